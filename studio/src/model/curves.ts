/** Numbers over time: values at a time, and exact shapes. */

export interface CurvePiece {
  from: number;
  to: number;
  first: number;
  last: number;
  /** Of the powers 0, 1, 2 and so on of the time since `from`; absent if there are bounds. */
  coefficients?: number[];
  formula?: string | null;
  /** Time, lower and upper bound of the value. */
  bounds?: [number, number, number][];
}

export interface Curve {
  fluent: string;
  pieces: CurvePiece[];
}

function polynomial(coefficients: number[], time: number): number {
  return coefficients.reduceRight((sum, one) => sum * time + one, 0);
}

/** Return the value of a piece at a time within it. */
export function pieceValue(piece: CurvePiece, time: number): number {
  if (piece.coefficients) {
    return time === piece.to ? piece.last : polynomial(piece.coefficients, time - piece.from);
  }
  const bounds = piece.bounds ?? [];
  const after = bounds.findIndex(([at]) => at >= time);
  const [one, two] = [bounds[Math.max(0, after - 1)], bounds[after < 0 ? bounds.length - 1 : after]];
  if (!one || !two) {
    return piece.first;
  }
  const share = two[0] > one[0] ? (time - one[0]) / (two[0] - one[0]) : 0;
  const [low, high] = [(one[1] + one[2]) / 2, (two[1] + two[2]) / 2];
  return low + share * (high - low);
}

/** Return the value right after a time; null where the number is undefined. */
export function valueAt(curve: Curve, time: number): number | null {
  let found: CurvePiece | null = null;
  for (const piece of curve.pieces) {
    if (piece.from <= time && time <= piece.to) {
      found = piece;
    }
  }
  return found && pieceValue(found, time);
}

/** Return whether a number ever changes. */
export function changes(curve: Curve): boolean {
  return new Set(curve.pieces.flatMap((piece) => [piece.first, piece.last, ...samples(piece)])).size > 1;
}

function samples(piece: CurvePiece): number[] {
  if (piece.coefficients) {
    return piece.coefficients.length > 2
      ? Array.from({ length: 33 }, (_, k) =>
          pieceValue(piece, piece.from + ((piece.to - piece.from) * k) / 32),
        )
      : [];
  }
  return (piece.bounds ?? []).flatMap(([, low, high]) => [low, high]);
}

/** Return the smallest and the largest value. */
export function extent(curve: Curve): [number, number] {
  const values = curve.pieces.flatMap((piece) => [piece.first, piece.last, ...samples(piece)]);
  return values.reduce<[number, number]>(
    ([low, high], value) => [Math.min(low, value), Math.max(high, value)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  );
}

const MANY = 64;

/** Return a piece as an SVG path. Polynomials up to the third power are exact Bézier curves. */
export function pathOf(piece: CurvePiece, x: (time: number) => number, y: (value: number) => number): string {
  const length = piece.to - piece.from;
  const point = (time: number, value: number) => `${round(x(time))},${round(y(value))}`;
  const start = `M${point(piece.from, piece.first)}`;
  const [c0 = 0, c1 = 0, c2 = 0, ...more] = piece.coefficients ?? [];
  if (piece.coefficients && more.length <= 1) {
    if (piece.coefficients.length <= 2) {
      return `${start} L${point(piece.to, piece.last)}`;
    }
    const one = c0 + (c1 * length) / 3;
    const two = c0 + (2 * c1 * length) / 3 + (c2 * length * length) / 3;
    const third = piece.from + length / 3;
    return `${start} C${point(third, one)} ${point(piece.from + (2 * length) / 3, two)} ${point(piece.to, piece.last)}`;
  }
  const times = piece.coefficients
    ? Array.from({ length: MANY }, (_, k) => piece.from + (length * (k + 1)) / MANY)
    : (piece.bounds ?? []).slice(1).map(([time]) => time);
  return `${start} L${times.map((time) => point(time, pieceValue(piece, time))).join(" ")}`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

/** Return a number as people write it, with at most six digits. */
export function decimal(value: number): string {
  return String(Number(value.toPrecision(6)));
}

/** States as pictures: the rules of a `drawing.toml` applied to facts, and boxes in their places. */

export interface DrawingRule {
  fact: string[];
  types: string[];
  verb: string;
  terms: string[];
}

export interface DrawingRules {
  things: string[];
  rules: DrawingRule[];
}

/** What the facts of a state say about places and looks. */
interface Relations {
  inside: Map<string, string>;
  /** The thing below each thing that stands on another. */
  above: Map<string, string>;
  column: Map<string, number>;
  row: Map<string, number>;
  /** Pairs of neighbouring cells: the second is `[columns, rows]` away from the first. */
  neighbours: [string, string, number, number][];
  links: [string, string][];
  marked: Set<string>;
  hidden: Set<string>;
}

interface Look {
  round: boolean;
  tone: number;
  label: boolean;
  /** Length of the longest name of its type, so that boxes of one type are equal. */
  letters: number;
}

export interface Box {
  name: string;
  x: number;
  y: number;
  width: number;
  height: number;
  depth: number;
  holds: boolean;
  marked: boolean;
  look: Look;
}

export interface StatePicture {
  boxes: Box[];
  lines: { from: string; to: string; x1: number; y1: number; x2: number; y2: number }[];
  width: number;
  height: number;
}

const PLAIN: Look = { round: false, tone: 0, label: true, letters: 0 };
const GAP = 8;
const LABEL = 22;
const HEIGHT = 32;
const CELL = 44;
const MOST_LABEL = 18;
const INNER = 520;
const SHELF = 640;

function wordsOf(fact: string): string[] {
  return fact.replace(/[()]/g, " ").trim().split(/\s+/);
}

/** Return the values of a pattern's variables in a fact, or null if it does not match. */
function bind(pattern: string[], fact: string[]): Map<string, string> | null {
  if (pattern.length !== fact.length) {
    return null;
  }
  const values = new Map<string, string>();
  for (const [at, word] of pattern.entries()) {
    const value = fact[at] as string;
    if (word.startsWith("?") ? (values.get(word) ?? value) !== value : word !== value) {
      return null;
    }
    if (word.startsWith("?")) {
      values.set(word, value);
    }
  }
  return values;
}

/** Return the number that a name is or ends with. */
function numberOf(text: string): number | null {
  const found = text.match(/-?\d+(\.\d+)?$/);
  return found ? Number(found[0]) : null;
}

function relate(rules: DrawingRules, facts: Iterable<string>, into: Relations): void {
  const named = new Map<string, DrawingRule[]>();
  for (const rule of rules.rules) {
    const name = rule.fact[0] === "=" ? `= ${rule.fact[1]}` : (rule.fact[0] ?? "");
    named.set(name, [...(named.get(name) ?? []), rule]);
  }
  for (const fact of facts) {
    const found = wordsOf(fact);
    const name = found[0] === "=" ? `= ${found[1]}` : (found[0] ?? "");
    for (const rule of named.get(name) ?? []) {
      const values = bind(rule.fact, found);
      if (values) {
        apply(
          rule.verb,
          rule.terms.map((term) => values.get(term) ?? term),
          into,
        );
      }
    }
  }
}

function apply(verb: string, [first = "", second = ""]: string[], into: Relations): void {
  if (verb === "inside" || verb === "above") {
    into[verb].set(first, second);
  } else if (verb === "column" || verb === "row") {
    const number = numberOf(second);
    if (number !== null) {
      into[verb].set(first, number);
    }
  } else if (verb === "right-of") {
    into.neighbours.push([second, first, 1, 0]);
  } else if (verb === "below") {
    into.neighbours.push([second, first, 0, 1]);
  } else if (verb === "link") {
    into.links.push([first, second]);
  } else if (verb === "mark") {
    into.marked.add(first);
  } else if (verb === "hide") {
    into.hidden.add(first);
  }
}

function applyTypes(rules: DrawingRules, objects: [string, string[]][], into: Relations): Map<string, Look> {
  const looks = new Map<string, Look>();
  const letters = new Map<string, number>();
  for (const [name, types] of objects) {
    letters.set(types.join(), Math.max(name.length, letters.get(types.join()) ?? 0));
  }
  for (const [name, types] of objects) {
    const look = { ...PLAIN, letters: letters.get(types.join()) ?? 0 };
    for (const rule of rules.rules.filter((one) => one.types.some((type) => types.includes(type)))) {
      const term = rule.terms[0] ?? "";
      if (rule.verb === "shape") {
        look.round = term === "round";
      } else if (rule.verb === "tone") {
        look.tone = Number(term);
      } else if (rule.verb === "label") {
        look.label = term === "true";
      } else if (rule.verb === "hide" && term === "true") {
        into.hidden.add(name);
      } else if (rule.verb === "inside") {
        into.inside.set(name, term);
      } else if (rule.verb === "cell") {
        placeByName(term, name, into);
      }
    }
    looks.set(name, look);
  }
  return looks;
}

function placeByName(pattern: string, name: string, into: Relations): void {
  const source = pattern
    .replace(/[.*+?^$()|[\]\\]/g, "\\$&")
    .replace("{column}", "(?<column>-?\\d+)")
    .replace("{row}", "(?<row>-?\\d+)");
  const found = name.match(new RegExp(`^${source}$`, "i"))?.groups;
  if (found) {
    into.column.set(name, Number(found.column ?? 0));
    into.row.set(name, Number(found.row ?? 0));
  }
}

function noRelations(): Relations {
  return {
    inside: new Map(),
    above: new Map(),
    column: new Map(),
    row: new Map(),
    neighbours: [],
    links: [],
    marked: new Set(),
    hidden: new Set(),
  };
}

function together(one: Relations, two: Relations): Relations {
  return {
    inside: new Map([...one.inside, ...two.inside]),
    above: new Map([...one.above, ...two.above]),
    column: new Map([...one.column, ...two.column]),
    row: new Map([...one.row, ...two.row]),
    neighbours: [...one.neighbours, ...two.neighbours],
    links: [...one.links, ...two.links],
    marked: new Set([...one.marked, ...two.marked]),
    hidden: new Set([...one.hidden, ...two.hidden]),
  };
}

/** Give cells that are only known to be neighbours their columns and rows. */
function spread(relations: Relations, names: Set<string>): void {
  const near = new Map<string, [string, number, number][]>();
  const add = (from: string, to: string, dx: number, dy: number) =>
    near.set(from, [...(near.get(from) ?? []), [to, dx, dy]]);
  for (const [from, to, dx, dy] of relations.neighbours) {
    if (names.has(from) && names.has(to)) {
      add(from, to, dx, dy);
      add(to, from, -dx, -dy);
    }
  }
  let free = 0;
  for (const first of near.keys()) {
    if (relations.column.has(first)) {
      continue;
    }
    const found = new Map([[first, [0, 0] as [number, number]]]);
    for (const [here, [x, y]] of found) {
      for (const [to, dx, dy] of near.get(here) ?? []) {
        if (!found.has(to)) {
          found.set(to, [x + dx, y + dy]);
        }
      }
    }
    const least = Math.min(...[...found.values()].map(([x]) => x));
    const top = Math.min(...[...found.values()].map(([, y]) => y));
    let most = 0;
    for (const [name, [x, y]] of found) {
      relations.column.set(name, free + x - least);
      relations.row.set(name, y - top);
      most = Math.max(most, x - least);
    }
    free += most + 2;
  }
}

interface Size {
  width: number;
  height: number;
}

/** The things of one state, with those inside and on top of each. */
class Arrangement {
  readonly inner = new Map<string, string[]>();
  readonly upper = new Map<string, string[]>();
  readonly roots: string[] = [];

  constructor(
    names: string[],
    readonly relations: Relations,
    readonly looks: Map<string, Look>,
    readonly reserved: Map<string, Size>,
  ) {
    const known = new Set(names);
    for (const name of names) {
      const below = relations.above.get(name);
      const around = relations.inside.get(name);
      if (below !== undefined && known.has(below) && !this.leads(below, name)) {
        this.upper.set(below, [...(this.upper.get(below) ?? []), name]);
      } else if (around !== undefined && known.has(around) && !this.leads(around, name)) {
        this.inner.set(around, [...(this.inner.get(around) ?? []), name]);
      } else {
        this.roots.push(name);
      }
    }
  }

  /** Return whether a thing stands on or lies in another, directly or not. */
  private leads(from: string, to: string): boolean {
    const seen = new Set<string>();
    let here: string | undefined = from;
    while (here !== undefined && !seen.has(here)) {
      if (here === to) {
        return true;
      }
      seen.add(here);
      here = this.relations.above.get(here) ?? this.relations.inside.get(here);
    }
    return here !== undefined;
  }

  look(name: string): Look {
    return this.looks.get(name) ?? PLAIN;
  }

  /** Return the size of a box with everything inside it. */
  box(name: string): Size {
    const inner = this.inner.get(name) ?? [];
    const label = this.look(name).label;
    const text = label ? Math.min(this.look(name).letters || name.length, MOST_LABEL) * 8 + 20 : CELL;
    let size = { width: Math.max(label ? 56 : CELL, text), height: label ? HEIGHT : CELL };
    if (inner.length > 0) {
      const content = this.flow(inner, INNER);
      const head = label ? LABEL : GAP;
      size = {
        width: Math.max(label ? text : CELL, content.width + 2 * GAP),
        height: Math.max(CELL, head + content.height + GAP),
      };
    }
    const kept = this.reserved.get(name);
    return kept
      ? { width: Math.max(size.width, kept.width), height: Math.max(size.height, kept.height) }
      : size;
  }

  /** Return the size of a box with everything that stands on it. */
  tower(name: string): Size {
    const own = this.box(name);
    const upper = (this.upper.get(name) ?? []).map((one) => this.tower(one));
    const width = upper.reduce((sum, one) => sum + one.width, 0) + GAP * Math.max(0, upper.length - 1);
    return {
      width: Math.max(own.width, width),
      height: own.height + Math.max(0, ...upper.map((one) => one.height)),
    };
  }

  /** Put towers side by side in rows, at the bottom of each row. */
  flow(names: string[], most: number): Size & { places: [string, number, number, number][] } {
    const places: [string, number, number, number][] = [];
    let [x, y, tall, width] = [0, 0, 0, 0];
    let row: [string, number, Size][] = [];
    const close = () => {
      for (const [name, left, size] of row) {
        places.push([name, left, y + tall - size.height, size.width]);
      }
      y += tall + GAP;
      [x, tall, row] = [0, 0, []];
    };
    for (const name of names) {
      const size = this.tower(name);
      if (x > 0 && x + size.width > most) {
        close();
      }
      row.push([name, x, size]);
      x += size.width + GAP;
      tall = Math.max(tall, size.height);
      width = Math.max(width, x - GAP);
    }
    close();
    return { places, width, height: Math.max(0, y - GAP) };
  }

  /** Draw a tower whose upper left corner is given. */
  draw(name: string, x: number, y: number, width: number, depth: number, into: Box[]): void {
    const own = this.box(name);
    const all = this.tower(name);
    const inner = this.inner.get(name) ?? [];
    const top = y + all.height - own.height;
    const left = x + (width - own.width) / 2;
    const look = this.look(name);
    into.push({
      name,
      x: left,
      y: top,
      ...own,
      depth,
      holds: inner.length > 0 || this.reserved.has(name),
      marked: this.relations.marked.has(name),
      look,
    });
    const content = this.flow(inner, INNER);
    const head = look.label ? LABEL : Math.max(GAP, (own.height - content.height) / 2);
    const middle = left + (own.width - content.width) / 2;
    for (const [one, dx, dy, wide] of content.places) {
      this.draw(one, middle + dx, top + head + dy, wide, depth + 1, into);
    }
    let at = x + (width - all.width) / 2;
    for (const one of this.upper.get(name) ?? []) {
      const size = this.tower(one);
      this.draw(one, at, top - size.height, size.width, depth, into);
      at += size.width + GAP;
    }
  }
}

/** Draws the states of one plan; places that hold things keep their size in all of them. */
export class Drawer {
  private readonly fixed = noRelations();
  private readonly looks: Map<string, Look>;
  private readonly reserved = new Map<string, Size>();
  private readonly spots: Map<string, [number, number]>;

  constructor(
    private readonly rules: DrawingRules,
    private readonly objects: Record<string, string[]>,
    constants: string[],
    states: string[][],
  ) {
    const named = Object.entries(objects);
    this.looks = applyTypes(rules, named, this.fixed);
    relate(rules, constants, this.fixed);
    // Twice, since what holds something may lie in something itself.
    for (const state of [...states, ...states]) {
      const { arrangement, placed } = this.arranged(state);
      for (const name of new Set([...placed, ...arrangement.inner.keys()])) {
        const size = arrangement.box(name);
        const old = this.reserved.get(name);
        this.reserved.set(name, {
          width: Math.max(size.width, old?.width ?? 0),
          height: Math.max(size.height, old?.height ?? 0),
        });
      }
    }
    this.spots = graphSpots(this.fixed.links, this.reserved);
  }

  private arranged(state: string[]) {
    const relations = noRelations();
    relate(this.rules, state, relations);
    const all = together(this.fixed, relations);
    const names = [...this.rules.things, ...Object.keys(this.objects)].filter((one) => !all.hidden.has(one));
    spread(all, new Set(names));
    const arrangement = new Arrangement(names, all, this.looks, this.reserved);
    const linked = new Set(all.links.flat());
    const placed = arrangement.roots.filter((one) => all.column.has(one) || linked.has(one));
    return { arrangement, placed };
  }

  /** Return a state as boxes and lines. */
  picture(state: string[]): StatePicture {
    const { arrangement, placed } = this.arranged(state);
    const { relations, roots } = arrangement;
    const boxes: Box[] = [];
    let y = GAP;
    let width = 0;
    const loose = roots.filter((one) => !placed.includes(one));
    const cells = placed.filter((one) => relations.column.has(one));
    const nodes = placed.filter((one) => !relations.column.has(one));
    if (cells.length > 0) {
      const size = grid(cells, arrangement, y, boxes);
      y += size.height + 2 * GAP;
      width = Math.max(width, size.width);
    }
    if (nodes.length > 0) {
      let low = y;
      for (const name of nodes) {
        const [x, top] = this.spots.get(name) ?? [0, 0];
        const size = arrangement.tower(name);
        arrangement.draw(name, x + GAP, y + top, size.width, 0, boxes);
        low = Math.max(low, y + top + size.height);
        width = Math.max(width, x + size.width + GAP);
      }
      y = low + 2 * GAP;
    }
    if (loose.length > 0) {
      const flow = arrangement.flow(loose, SHELF);
      for (const [name, dx, dy, wide] of flow.places) {
        arrangement.draw(name, GAP + dx, y + dy, wide, 0, boxes);
      }
      y += flow.height + GAP;
      width = Math.max(width, flow.width);
    }
    const at = new Map(boxes.map((box) => [box.name, box]));
    const lines = relations.links.flatMap(([from, to]) => {
      const [one, two] = [at.get(from), at.get(to)];
      return one && two
        ? [{ from, to, x1: middleX(one), y1: middleY(one), x2: middleX(two), y2: middleY(two) }]
        : [];
    });
    // What lies inside is drawn after what holds it.
    boxes.sort((one, two) => one.depth - two.depth);
    return { boxes, lines, width: width + 2 * GAP, height: y };
  }
}

function middleX(box: Box): number {
  return box.x + box.width / 2;
}

function middleY(box: Box): number {
  return box.y + box.height / 2;
}

function grid(cells: string[], arrangement: Arrangement, top: number, into: Box[]): Size {
  const { column, row } = arrangement.relations;
  const sizes = cells.map((name) => arrangement.tower(name));
  const width = Math.max(...sizes.map((size) => size.width));
  const height = Math.max(...sizes.map((size) => size.height));
  for (const name of cells) {
    arrangement.reserved.set(name, { width, height });
  }
  const columns = cells.map((name) => column.get(name) ?? 0);
  const rows = cells.map((name) => row.get(name) ?? 0);
  const [left, first] = [Math.min(...columns), Math.min(...rows)];
  cells.forEach((name, index) => {
    const x = GAP + ((columns[index] ?? 0) - left) * (width + 2);
    arrangement.draw(name, x, top + ((rows[index] ?? 0) - first) * (height + 2), width, 0, into);
  });
  return {
    width: (Math.max(...columns) - left + 1) * (width + 2) + GAP,
    height: (Math.max(...rows) - first + 1) * (height + 2),
  };
}

const ROUNDS = 240;
const MOST_NODES = 80;

/** Place linked things so that links are short and boxes do not overlap; always the same way. */
export function graphSpots(
  links: [string, string][],
  sizes: Map<string, Size>,
): Map<string, [number, number]> {
  const names = [...new Set(links.flat())].filter((name) => sizes.has(name)).sort();
  const size = (name: string) => sizes.get(name) ?? { width: CELL, height: CELL };
  const wide = Math.max(0, ...names.map((name) => size(name).width)) + 48;
  const tall = Math.max(0, ...names.map((name) => size(name).height)) + 48;
  const at = new Map<string, [number, number]>();
  const across = Math.ceil(Math.sqrt(names.length));
  names.forEach((name, index) => {
    const turn = (2 * Math.PI * index) / Math.max(1, names.length);
    at.set(
      name,
      names.length > MOST_NODES
        ? [(index % across) * 1.2, Math.floor(index / across) * 1.2]
        : [Math.cos(turn) * (names.length / 5), Math.sin(turn) * (names.length / 5)],
    );
  });
  const near = new Set(links.map(([from, to]) => JSON.stringify([from, to].sort())));
  for (let round = 0; names.length <= MOST_NODES && round < ROUNDS; round++) {
    const heat = 0.15 * (1 - round / ROUNDS);
    for (const one of names) {
      const [x, y] = at.get(one) as [number, number];
      let [fx, fy] = [0, 0];
      for (const two of names) {
        if (two === one) {
          continue;
        }
        const [x2, y2] = at.get(two) as [number, number];
        const [dx, dy] = [x - x2, y - y2];
        const distance = Math.max(0.05, Math.hypot(dx, dy));
        const pull = near.has(JSON.stringify([one, two].sort())) ? distance * distance : 0;
        const force = 1 / distance - pull;
        fx += (dx / distance) * force;
        fy += (dy / distance) * force;
      }
      const length = Math.max(0.001, Math.hypot(fx, fy));
      const move = Math.min(length, heat) / length;
      at.set(one, [x + fx * move, y + fy * move]);
    }
  }
  return apart(names, at, wide, tall);
}

function apart(
  names: string[],
  at: Map<string, [number, number]>,
  wide: number,
  tall: number,
): Map<string, [number, number]> {
  let scale = 1;
  const meets = () =>
    names.some((one, index) =>
      names.slice(index + 1).some((two) => {
        const [a, b] = [at.get(one) as [number, number], at.get(two) as [number, number]];
        return Math.abs(a[0] - b[0]) * scale < 1 && Math.abs(a[1] - b[1]) * scale < 1;
      }),
    );
  while (scale < 8 && meets()) {
    scale *= 1.15;
  }
  const left = Math.min(0, ...names.map((name) => at.get(name)?.[0] ?? 0));
  const top = Math.min(0, ...names.map((name) => at.get(name)?.[1] ?? 0));
  return new Map(
    names.map((name) => {
      const [x, y] = at.get(name) as [number, number];
      return [name, [(x - left) * scale * wide, (y - top) * scale * tall]];
    }),
  );
}

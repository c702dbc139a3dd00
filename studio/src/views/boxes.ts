/** Boxes drawn together: one call for all that hide what is behind them, one for the others, one for edges. */

import {
  BufferAttribute,
  BufferGeometry,
  Color,
  DynamicDrawUsage,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
} from "three";

export interface Box {
  /** The middle of the box. */
  x: number;
  y: number;
  z: number;
  size: [number, number, number];
  colour: string;
  opacity: number;
  edge: string;
  edgeOpacity: number;
  /** Radians that the box is turned about a vertical axis, which is this far from its middle. */
  turn?: number;
  axis?: [x: number, z: number];
  /** Parts of the width at which the box is cut. */
  cuts?: number[];
}

const SUN = [0.384, 0.768, 0.512] as const;
/** Corners of the sides, with the direction that each side faces. */
const SIDES: [normal: number[], corners: number[][]][] = [
  [[1, 0, 0], [[1, -1, 1], [1, -1, -1], [1, 1, -1], [1, 1, 1]]],
  [[-1, 0, 0], [[-1, -1, -1], [-1, -1, 1], [-1, 1, 1], [-1, 1, -1]]],
  [[0, 1, 0], [[-1, 1, 1], [1, 1, 1], [1, 1, -1], [-1, 1, -1]]],
  [[0, -1, 0], [[-1, -1, -1], [1, -1, -1], [1, -1, 1], [-1, -1, 1]]],
  [[0, 0, 1], [[-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]]],
  [[0, 0, -1], [[1, -1, -1], [-1, -1, -1], [-1, 1, -1], [1, 1, -1]]],
]; // biome-ignore format: a side is a line
const CORNERS = [-1, 1].flatMap((y) => [[-1, y, -1], [1, y, -1], [1, y, 1], [-1, y, 1]]); // biome-ignore format: a loop
const EDGES = [0, 1, 2, 3].flatMap((at) => {
  const next = (at + 1) % 4;
  return [at, next, at + 4, next + 4, at, at + 4];
});

/** Return how bright a surface is that faces some direction: the light is baked into the colours. */
export function shade(x: number, y: number, z: number): number {
  return 0.58 + 0.46 * (0.5 + 0.5 * (x * SUN[0] + y * SUN[1] + z * SUN[2]));
}

/** Vertices with colours that are written anew, in arrays that only grow. */
class Vertices {
  readonly geometry = new BufferGeometry();
  private positions = new Float32Array(0);
  private colours = new Float32Array(0);
  private used = 0;

  constructor(private readonly quads: boolean) {}

  begin(): void {
    this.used = 0;
  }

  add(x: number, y: number, z: number, colour: Color, light: number, opacity: number): void {
    if (this.used * 3 >= this.positions.length) {
      this.grow();
    }
    this.positions.set([x, y, z], this.used * 3);
    this.colours.set([colour.r * light, colour.g * light, colour.b * light, opacity], this.used * 4);
    this.used += 1;
  }

  end(): void {
    if (this.positions.length === 0) {
      this.grow();
    }
    for (const name of ["position", "color"]) {
      const attribute = this.geometry.getAttribute(name) as BufferAttribute;
      attribute.clearUpdateRanges();
      attribute.addUpdateRange(0, this.used * attribute.itemSize);
      attribute.needsUpdate = true;
    }
    this.geometry.setDrawRange(0, this.quads ? (this.used / 4) * 6 : this.used);
  }

  private grow(): void {
    const room = Math.max(1024, (this.positions.length / 3) * 2);
    const [positions, colours] = [new Float32Array(room * 3), new Float32Array(room * 4)];
    positions.set(this.positions);
    colours.set(this.colours);
    [this.positions, this.colours] = [positions, colours];
    this.geometry.dispose();
    this.geometry.setAttribute("position", new BufferAttribute(positions, 3).setUsage(DynamicDrawUsage));
    this.geometry.setAttribute("color", new BufferAttribute(colours, 4).setUsage(DynamicDrawUsage));
    if (this.quads) {
      const corners = new Uint32Array((room / 4) * 6);
      for (let quad = 0; quad < room / 4; quad++) {
        corners.set(
          [0, 1, 2, 0, 2, 3].map((corner) => quad * 4 + corner),
          quad * 6,
        );
      }
      this.geometry.setIndex(new BufferAttribute(corners, 1));
    }
  }
}

export class Boxes {
  readonly parts: Object3D[];
  private readonly solid = new Vertices(true);
  private readonly clear = new Vertices(true);
  private readonly lines = new Vertices(false);
  private readonly colours = new Map<string, Color>();

  constructor() {
    // The edges lie on the sides: the sides step back a little.
    const offset = { polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 };
    this.parts = [
      new Mesh(this.solid.geometry, new MeshBasicMaterial({ vertexColors: true, ...offset })),
      new LineSegments(
        this.lines.geometry,
        new LineBasicMaterial({ vertexColors: true, transparent: true, depthWrite: false }),
      ),
      new Mesh(
        this.clear.geometry,
        new MeshBasicMaterial({ vertexColors: true, transparent: true, depthWrite: false, ...offset }),
      ),
    ];
    for (const [order, part] of this.parts.entries()) {
      part.frustumCulled = false;
      part.renderOrder = order;
    }
  }

  /** Draw these boxes and no others. */
  fill(boxes: Iterable<Box>): void {
    const all = [this.solid, this.clear, this.lines];
    for (const one of all) {
      one.begin();
    }
    for (const box of boxes) {
      this.add(box);
    }
    for (const one of all) {
      one.end();
    }
  }

  dispose(): void {
    for (const one of [this.solid, this.clear, this.lines]) {
      one.geometry.dispose();
    }
  }

  private add(box: Box): void {
    const [w, h, d] = box.size.map((length) => length / 2) as [number, number, number];
    const [cos, sin] = [Math.cos(box.turn ?? 0), Math.sin(box.turn ?? 0)];
    const [ax, az] = box.axis ?? [0, 0];
    const at = (corner: number[]): [number, number, number] => {
      const [x, z] = [(corner[0] as number) * w - ax, (corner[2] as number) * d - az];
      return [
        box.x + ax + x * cos + z * sin,
        box.y + (corner[1] as number) * h,
        box.z + az - x * sin + z * cos,
      ];
    };
    if (box.opacity > 0) {
      const target = box.opacity < 0.99 ? this.clear : this.solid;
      const colour = this.colour(box.colour);
      for (const [[nx = 0, ny = 0, nz = 0], corners] of SIDES) {
        const light = shade(nx * cos + nz * sin, ny, nz * cos - nx * sin);
        for (const corner of corners) {
          target.add(...at(corner), colour, light, box.opacity);
        }
      }
    }
    if (box.edgeOpacity > 0) {
      const colour = this.colour(box.edge);
      for (const corner of EDGES) {
        this.lines.add(...at(CORNERS[corner] as number[]), colour, 1, box.edgeOpacity);
      }
      for (const cut of box.cuts ?? []) {
        for (const [y, z] of [
          [-1, -1],
          [1, -1],
          [1, -1],
          [1, 1],
          [1, 1],
          [-1, 1],
        ] as const) {
          this.lines.add(...at([2 * cut, y * 1.02, z * 1.02]), colour, 1, 1);
        }
      }
    }
  }

  private colour(name: string): Color {
    const found = this.colours.get(name) ?? new Color(name);
    this.colours.set(name, found);
    return found;
  }
}

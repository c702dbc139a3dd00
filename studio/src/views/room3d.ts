/** The room in three dimensions: a box for each thing, moved by the steps of a run. */

import {
  Box3,
  BufferAttribute,
  CanvasTexture,
  Color,
  ColorManagement,
  ConeGeometry,
  CylinderGeometry,
  Group,
  LinearFilter,
  LinearSRGBColorSpace,
  Mesh,
  MeshBasicMaterial,
  PerspectiveCamera,
  Raycaster,
  Scene,
  Sprite,
  SpriteMaterial,
  Vector2,
  Vector3,
  WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import type { RoomObject } from "../api";
import { filling, middle, type RoomState } from "../model/room";
import { type Box, Boxes, shade } from "./boxes";
import { freshness, type StageProps } from "./stage";

const COLOURS: Record<string, string> = {
  surface: "#b9a88c",
  furniture: "#a58f72",
  storage: "#8ca0ad",
  basin: "#9fb9c4",
  appliance: "#7d8791",
  fixture: "#a9a59d",
  small: "#d98b4a",
};
const FLOOR = "#d9d4ca";
const EDGE = "#33302c";
const CHOSEN = "#e0a100";
const GHOST = "#c2410c";
const HOT = "#d8503f";
const COLD = "#4d8fd0";
const LIT = "#f2c94c";
/** Liquids that have a colour of their own; others look like water. */
const LIQUIDS: Record<string, string> = { coffee: "#4a2b18", wine: "#7a1530", water: "#6fb4e8" };
/** Radians that a door opens. */
const DOOR = 1.9;
/** Share of a way that is left after a second of movement. */
const LEFT = 1e-5;
const STILL = 0.004;

type Point = [x: number, y: number, z: number];

function size(one: RoomObject): Point {
  return [0, 1, 2].map((axis) => Math.max(0.01, (one.box[axis + 3] ?? 0) - (one.box[axis] ?? 0))) as Point;
}

/** Return the colour of a thing: that of its heat or light, or its kind's. */
function colour(one: RoomObject): string {
  const marks: [string, string][] = [
    ["hot", HOT],
    ["cold", COLD],
    ["on", LIT],
  ];
  return marks.find(([word]) => one.state.includes(word))?.[1] ?? COLOURS[one.kind] ?? "#a0a0a0";
}

function goalOf(one: RoomObject): Point {
  const [x, z] = middle(one.box);
  return [x, (one.box[1] + one.box[4]) / 2, z];
}

/** Say whether the processor draws in place of a graphics card: then each pixel counts. */
function slow(): boolean {
  const pen = document.createElement("canvas").getContext("webgl2");
  const about = pen?.getExtension("WEBGL_debug_renderer_info");
  const name = String(pen?.getParameter(about ? about.UNMASKED_RENDERER_WEBGL : pen.RENDERER));
  pen?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

/** Where a thing is drawn now, and how far its door is open. */
interface Drawn {
  at: Point;
  door: number;
}

export class Room3D {
  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly camera = new PerspectiveCamera(45, 1, 0.1, 100);
  private readonly controls: OrbitControls;
  private readonly boxes = new Boxes();
  private readonly labels = new Map<string, Sprite>();
  private readonly robot = new Group();
  private readonly drawn = new Map<string, Drawn>();
  private readonly watcher: ResizeObserver;
  private shown: StageProps | null = null;
  private floor: Box | null = null;
  private frame = 0;
  private last = 0;
  private moving = false;

  constructor(
    private readonly place: HTMLElement,
    private readonly onHover: (name: string) => void,
  ) {
    ColorManagement.enabled = false;
    const plain = slow();
    this.renderer = new WebGLRenderer({ antialias: !plain, alpha: true, stencil: false });
    this.renderer.outputColorSpace = LinearSRGBColorSpace;
    this.renderer.setPixelRatio(plain ? 1 : Math.min(devicePixelRatio, 2));
    place.append(this.renderer.domElement);
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.controls.maxPolarAngle = Math.PI / 2.1;
    this.controls.addEventListener("change", this.draw);
    this.scene.add(...this.boxes.parts, this.robot);
    const material = new MeshBasicMaterial({ vertexColors: true });
    const body = new Mesh(lit(new CylinderGeometry(0.16, 0.2, 0.9, 20), "#2f7d6d"), material);
    body.position.y = 0.45;
    const nose = new ConeGeometry(0.09, 0.25, 12).rotateX(Math.PI / 2).translate(0, 0.75, 0.24);
    this.robot.add(body, new Mesh(lit(nose, "#1d4f45"), material));
    // Behind furniture, the robot shines through.
    const faint = new MeshBasicMaterial({
      color: "#2f7d6d",
      transparent: true,
      opacity: 0.25,
      depthTest: false,
    });
    const behind = new Mesh(body.geometry, faint);
    behind.position.y = 0.45;
    behind.renderOrder = 8;
    this.robot.add(behind);
    this.watcher = new ResizeObserver(() => this.resize());
    this.watcher.observe(place);
    this.renderer.domElement.addEventListener("pointermove", this.hover);
    this.resize();
  }

  /** Show a state; what has moved goes there unless this is the first. */
  show(props: StageProps): void {
    const { state } = props;
    if (this.shown === null) {
      this.furnish(state);
    }
    this.shown = props;
    this.name(props);
    this.moving = true;
    this.draw();
  }

  end(): void {
    cancelAnimationFrame(this.frame);
    this.watcher.disconnect();
    for (const label of this.labels.values()) {
      label.material.map?.dispose();
      label.material.dispose();
    }
    this.boxes.dispose();
    this.controls.dispose();
    this.renderer.dispose();
    this.renderer.domElement.remove();
  }

  private furnish(state: RoomState): void {
    const boxes = [...state.objects.values()];
    const xs = boxes.flatMap((one) => [one.box[0], one.box[3]]);
    const zs = boxes.flatMap((one) => [one.box[2], one.box[5]]);
    const [x0, x1] = [Math.min(...xs, state.agent.x), Math.max(...xs, state.agent.x)];
    const [z0, z1] = [Math.min(...zs, state.agent.z), Math.max(...zs, state.agent.z)];
    const [x, z] = [(x0 + x1) / 2, (z0 + z1) / 2];
    const flat = { y: -0.03, edge: EDGE, edgeOpacity: 0, opacity: 1, colour: FLOOR };
    this.floor = { x, z, size: [x1 - x0 + 0.4, 0.04, z1 - z0 + 0.4], ...flat };
    const wide = Math.max(x1 - x0, z1 - z0, 2);
    this.controls.target.set(x, 0.6, z);
    this.camera.position.set(x + wide * 0.5, wide * 1.1, z + wide * 0.95);
    this.controls.update();
    this.robot.position.set(state.agent.x, 0, state.agent.z);
    this.robot.rotation.y = (state.agent.yaw * Math.PI) / 180;
  }

  // Movement

  private readonly draw = (): void => {
    if (this.frame === 0) {
      this.last = performance.now();
      this.frame = requestAnimationFrame(this.tick);
    }
  };

  /** Draw a frame, and another while anything moves: a still room costs nothing. */
  private readonly tick = (now: number): void => {
    this.frame = 0;
    if (this.moving && this.shown) {
      const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
      const part = still ? 1 : 1 - LEFT ** (Math.min(50, Math.max(8, now - this.last)) / 1000);
      this.moving = this.move(this.shown, part);
      this.boxes.fill(this.all(this.shown));
    }
    this.last = now;
    this.renderer.render(this.scene, this.camera);
    if (this.moving) {
      this.frame = requestAnimationFrame(this.tick);
    }
  };

  /** Move everything a part of its way; return whether something has still to move. */
  private move({ state }: StageProps, part: number): boolean {
    let moves = false;
    const nearer = (from: number, to: number): number => {
      if (Math.abs(to - from) < STILL) {
        return to;
      }
      moves = true;
      return from + (to - from) * part;
    };
    const { position, rotation } = this.robot;
    position.x = nearer(position.x, state.agent.x);
    position.z = nearer(position.z, state.agent.z);
    const turn = (state.agent.yaw * Math.PI) / 180 - rotation.y;
    rotation.y = nearer(rotation.y, rotation.y + Math.atan2(Math.sin(turn), Math.cos(turn)));
    for (const one of state.objects.values()) {
      const goal = goalOf(one);
      const door = one.state.includes("open") ? 1 : 0;
      const drawn = this.drawn.get(one.name);
      if (!drawn) {
        this.drawn.set(one.name, { at: goal, door });
        continue;
      }
      const before = drawn.at;
      drawn.at = goal.map((to, axis) => nearer(before[axis] ?? to, to)) as Point;
      drawn.door = nearer(drawn.door, door);
    }
    return moves;
  }

  // Boxes

  private *all({ state, about, at, expected, odd }: StageProps): Iterable<Box> {
    for (const one of state.objects.values()) {
      const drawn = this.drawn.get(one.name);
      if (drawn && one.kind !== "floor") {
        const fresh = freshness(state, one.name, at);
        yield* this.thing(one, drawn, about.has(one.name), fresh);
        const label = about.has(one.name) ? this.labels.get(one.name) : undefined;
        label?.position.set(drawn.at[0], drawn.at[1] + size(one)[1] / 2 + 0.2, drawn.at[2]);
      }
    }
    for (const name of odd) {
      const one = expected?.objects.get(name);
      if (one) {
        const [x, y, z] = goalOf(one);
        const outline = size(one).map((length) => length * 1.12) as Point;
        yield { x, y, z, size: outline, colour: GHOST, opacity: 0, edge: GHOST, edgeOpacity: 1 };
      }
    }
    if (this.floor) {
      yield this.floor; // the last: most of it is hidden by others
    }
  }

  private *thing(one: RoomObject, { at, door }: Drawn, chosen: boolean, fresh: number): Iterable<Box> {
    const [x, y, z] = at;
    const [w, h, d] = size(one);
    const hanging = one.box[1] > 1.35 && one.kind !== "small";
    const body: Box = {
      x,
      y,
      z,
      size: [w, h, d],
      colour: colour(one),
      opacity: fresh * (hanging ? 0.25 : 1 - 0.65 * door),
      edge: chosen ? CHOSEN : EDGE,
      edgeOpacity: chosen ? 1 : 0.35 * fresh,
    };
    yield one.state.includes("sliced") ? { ...body, cuts: [-0.25, 0, 0.25] } : body;
    if (door > 0) {
      yield this.door(body, door);
    }
    const liquid = filling(one);
    if (liquid !== "") {
      yield {
        ...body,
        y: y + h / 2 + 0.01,
        size: [w * 0.8, 0.02, d * 0.8],
        colour: LIQUIDS[liquid] ?? (LIQUIDS.water as string),
        opacity: 1,
        edgeOpacity: 0,
      };
    }
  }

  /** A door swings out of the side that faces the middle of the room. */
  private door(body: Box, open: number): Box {
    const [w, h, d] = body.size;
    const [dx, dz] = [this.controls.target.x - body.x, this.controls.target.z - body.z];
    const alongX = Math.abs(dx) / Math.max(w, 0.1) < Math.abs(dz) / Math.max(d, 0.1);
    const out = alongX ? Math.sign(dz || 1) : Math.sign(dx || 1);
    return {
      ...body,
      x: body.x + (alongX ? 0 : out * (w / 2)),
      z: body.z + (alongX ? out * (d / 2) : 0),
      size: [alongX ? w : 0.03, h, alongX ? 0.03 : d],
      opacity: body.opacity < 0.3 ? 0.4 : 1,
      turn: (alongX ? -out : out) * DOOR * open,
      axis: alongX ? [-w / 2, 0] : [0, -d / 2],
    };
  }

  // Labels

  /** Name what the step is about. A name is written once, and kept. */
  private name({ state, about, names }: StageProps): void {
    for (const [name, label] of this.labels) {
      label.visible = about.has(name) && state.objects.has(name);
    }
    for (const name of about) {
      if (state.objects.has(name) && !this.labels.has(name)) {
        const label = written(names.get(name) ?? name);
        this.labels.set(name, label);
        this.scene.add(label);
      }
    }
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.place;
    this.camera.aspect = width / Math.max(1, height);
    this.camera.updateProjectionMatrix();
    this.renderer.setSize(width, height);
    this.draw();
  }

  private readonly hover = (event: PointerEvent): void => {
    if (event.buttons !== 0 || this.shown === null) {
      return;
    }
    const area = this.renderer.domElement.getBoundingClientRect();
    const point = new Vector2(
      ((event.clientX - area.left) / area.width) * 2 - 1,
      1 - ((event.clientY - area.top) / area.height) * 2,
    );
    const sight = new Raycaster();
    sight.setFromCamera(point, this.camera);
    const [box, hit] = [new Box3(), new Vector3()];
    let [nearest, found] = [Number.POSITIVE_INFINITY, ""];
    for (const one of this.shown.state.objects.values()) {
      const drawn = this.drawn.get(one.name);
      if (drawn && one.kind !== "floor") {
        box.setFromCenterAndSize(new Vector3(...drawn.at), new Vector3(...size(one)));
        const away = sight.ray.intersectBox(box, hit)?.distanceTo(sight.ray.origin);
        if (away !== undefined && away < nearest) {
          [nearest, found] = [away, one.name];
        }
      }
    }
    this.onHover(found);
  };
}

/** Return a shape with its colours, lit by the sun. */
function lit<T extends CylinderGeometry | ConeGeometry>(shape: T, name: string): T {
  const facing = shape.getAttribute("normal");
  const base = new Color(name);
  const colours = new Float32Array(facing.count * 3);
  for (let at = 0; at < facing.count; at++) {
    const light = shade(facing.getX(at), facing.getY(at), facing.getZ(at));
    colours.set([base.r * light, base.g * light, base.b * light], at * 3);
  }
  shape.setAttribute("color", new BufferAttribute(colours, 3));
  return shape;
}

function written(text: string): Sprite {
  const short = text.length > 24 ? `${text.slice(0, 23)}…` : text;
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [512, 64];
  const pen = canvas.getContext("2d");
  if (pen) {
    pen.font = "600 36px system-ui, sans-serif";
    const width = Math.min(500, pen.measureText(short).width + 32);
    pen.fillStyle = "rgba(31, 29, 26, 0.82)";
    pen.beginPath();
    pen.roundRect((512 - width) / 2, 4, width, 56, 14);
    pen.fill();
    pen.fillStyle = "#ffffff";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillText(short, 256, 33);
  }
  const map = new CanvasTexture(canvas);
  [map.generateMipmaps, map.minFilter] = [false, LinearFilter];
  const sprite = new Sprite(new SpriteMaterial({ map, depthTest: false }));
  sprite.scale.set(1.6, 0.2, 1);
  sprite.renderOrder = 9;
  return sprite;
}

/** The room in three dimensions: a box for each thing, moved by the steps of a run. */

import {
  AmbientLight,
  BoxGeometry,
  CanvasTexture,
  ConeGeometry,
  CylinderGeometry,
  DirectionalLight,
  EdgesGeometry,
  Group,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  MeshLambertMaterial,
  PerspectiveCamera,
  PlaneGeometry,
  Raycaster,
  Scene,
  Sprite,
  SpriteMaterial,
  Vector2,
  WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import type { RoomObject } from "../api";
import { filling, middle, type RoomState } from "../model/room";
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
const EDGE = "#33302c";
const CHOSEN = "#e0a100";
const GHOST = "#c2410c";
const HOT = "#d8503f";
const COLD = "#4d8fd0";
const SPEED = 0.18;
const DOOR = 1.9;
/** Liquids that have a colour of their own; others look like water. */
const LIQUIDS: Record<string, string> = { coffee: "#4a2b18", wine: "#7a1530", water: "#6fb4e8" };

function size(one: RoomObject): [number, number, number] {
  const [w, h, d] = [0, 1, 2].map((axis) =>
    Math.max(0.01, (one.box[axis + 3] as number) - (one.box[axis] as number)),
  );
  return [w as number, h as number, d as number];
}

/** Return the colour of a thing: its kind's, or that of its heat. */
function colour(one: RoomObject): string {
  if (one.state.includes("hot")) {
    return HOT;
  }
  return one.state.includes("cold") ? COLD : (COLOURS[one.kind] ?? "#a0a0a0");
}

/** The parts of a thing: its body with edges, and what it may have. */
interface Thing {
  group: Group;
  body: Mesh<BoxGeometry, MeshLambertMaterial>;
  edges: LineSegments<EdgesGeometry, LineBasicMaterial>;
  door: Mesh | null;
  hinge: Group | null;
  liquid: Mesh<CylinderGeometry, MeshLambertMaterial> | null;
  cuts: LineSegments | null;
}

export class Room3D {
  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly camera = new PerspectiveCamera(45, 1, 0.1, 100);
  private readonly controls: OrbitControls;
  private readonly things = new Map<string, Thing>();
  private readonly extras = new Group();
  private readonly robot = new Group();
  private readonly target = { x: 0, z: 0, yaw: 0 };
  private readonly watcher: ResizeObserver;
  private state: RoomState | null = null;
  private idle = 0;
  private frame = 0;

  constructor(
    private readonly place: HTMLElement,
    private readonly onHover: (name: string) => void,
  ) {
    this.renderer = new WebGLRenderer({ antialias: true, alpha: true });
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    place.append(this.renderer.domElement);
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.controls.maxPolarAngle = Math.PI / 2.1;
    this.controls.addEventListener("change", this.draw);
    this.scene.add(new AmbientLight("#ffffff", 1.6));
    const sun = new DirectionalLight("#ffffff", 1.8);
    sun.position.set(3, 6, 4);
    this.scene.add(sun);
    const body = new Mesh(
      new CylinderGeometry(0.16, 0.2, 0.9, 20),
      new MeshLambertMaterial({ color: "#2f7d6d" }),
    );
    body.position.y = 0.45;
    const nose = new Mesh(new ConeGeometry(0.09, 0.25, 12), new MeshLambertMaterial({ color: "#1d4f45" }));
    nose.rotation.x = Math.PI / 2;
    nose.position.set(0, 0.75, 0.24);
    this.robot.add(body, nose);
    this.scene.add(this.robot);
    this.watcher = new ResizeObserver(() => this.resize());
    this.watcher.observe(place);
    this.renderer.domElement.addEventListener("pointermove", this.hover);
    this.resize();
  }

  /** Show a state; the robot moves there unless this is the first. */
  show({ state, about, names, at, expected, odd }: StageProps): void {
    const first = this.state === null;
    this.state = state;
    if (first) {
      this.furnish(state);
    }
    for (const [name, thing] of this.things) {
      thing.group.visible = state.objects.has(name);
    }
    for (const one of state.objects.values()) {
      this.pose(this.thing(one), one, state, about.has(one.name), freshness(state, one.name, at));
    }
    this.clearExtras();
    for (const name of odd) {
      const one = expected?.objects.get(name);
      if (one && expected) {
        this.ghost(one, expected);
      }
    }
    for (const name of about) {
      const one = state.objects.get(name);
      if (one) {
        this.label(names.get(name) ?? name, one, state);
      }
    }
    Object.assign(this.target, state.agent);
    if (first) {
      this.robot.position.set(state.agent.x, 0, state.agent.z);
    }
    this.draw();
  }

  end(): void {
    cancelAnimationFrame(this.frame);
    this.watcher.disconnect();
    this.clearExtras();
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
    const floor = new Mesh(
      new PlaneGeometry(x1 - x0 + 0.4, z1 - z0 + 0.4),
      new MeshLambertMaterial({ color: "#d9d4ca" }),
    );
    floor.rotation.x = -Math.PI / 2;
    floor.position.set((x0 + x1) / 2, -0.01, (z0 + z1) / 2);
    this.scene.add(floor);
    const size = Math.max(x1 - x0, z1 - z0, 2);
    this.controls.target.set((x0 + x1) / 2, 0.6, (z0 + z1) / 2);
    this.camera.position.set((x0 + x1) / 2 + size * 0.5, size * 1.1, (z0 + z1) / 2 + size * 0.95);
    this.scene.add(this.extras);
  }

  /** Return the drawn parts of a thing, made when it is first seen: slices appear during a run. */
  private thing(one: RoomObject): Thing {
    const found = this.things.get(one.name);
    if (found) {
      return found;
    }
    const [w, h, d] = size(one);
    const geometry = new BoxGeometry(w, h, d);
    const group = new Group();
    const body = new Mesh(geometry, new MeshLambertMaterial({ transparent: true }));
    body.userData = { name: one.name };
    const edges = new LineSegments(
      new EdgesGeometry(geometry),
      new LineBasicMaterial({ color: EDGE, transparent: true, opacity: 0.35 }),
    );
    group.add(body, edges);
    const thing: Thing = { group, body, edges, door: null, hinge: null, liquid: null, cuts: null };
    if (one.kind !== "floor") {
      this.scene.add(group);
    }
    this.things.set(one.name, thing);
    return thing;
  }

  private pose(thing: Thing, one: RoomObject, state: RoomState, chosen: boolean, fresh: number): void {
    const [x, z] = middle(one.box);
    const held = state.held === one.name;
    const y = held ? 1.1 : (one.box[1] + one.box[4]) / 2;
    thing.group.position.set(held ? state.agent.x : x, y, held ? state.agent.z : z);
    const open = one.state.includes("open");
    const hanging = one.box[1] > 1.35 && one.kind !== "small";
    const { material } = thing.body;
    material.color.set(colour(one));
    material.opacity = fresh * (open ? 0.35 : hanging ? 0.25 : one.kind === "storage" ? 0.8 : 1);
    material.emissive.set(one.state.includes("on") ? "#6b5200" : "#000000");
    thing.edges.material.color.set(chosen ? CHOSEN : EDGE);
    thing.edges.material.opacity = chosen ? 1 : 0.35 * fresh;
    this.door(thing, one, open);
    this.liquid(thing, one);
    this.slices(thing, one);
  }

  /** A door swings out at the side of the robot's room; it is there once a thing was opened. */
  private door(thing: Thing, one: RoomObject, open: boolean): void {
    if (!thing.hinge) {
      if (!open) {
        return;
      }
      const [w, h, d] = size(one);
      thing.hinge = new Group();
      const [cx, cz] = [this.controls.target.x, this.controls.target.z];
      const [x, z] = middle(one.box);
      // The front is the side that faces the middle of the room.
      const alongX = Math.abs(cx - x) / Math.max(w, 0.1) < Math.abs(cz - z) / Math.max(d, 0.1);
      const panel = new Mesh(
        new BoxGeometry(alongX ? w : 0.03, h, alongX ? 0.03 : d),
        new MeshLambertMaterial({ color: COLOURS[one.kind] ?? "#a0a0a0" }),
      );
      const out = alongX ? Math.sign(cz - z || 1) * (d / 2) : Math.sign(cx - x || 1) * (w / 2);
      thing.hinge.position.set(alongX ? -w / 2 : out, 0, alongX ? out : -d / 2);
      panel.position.set(alongX ? w / 2 : 0, 0, alongX ? 0 : d / 2);
      thing.hinge.userData = { turn: alongX ? -Math.sign(out) * DOOR : Math.sign(out) * DOOR };
      thing.hinge.add(panel);
      thing.door = panel;
      thing.group.add(thing.hinge);
    }
    thing.hinge.userData.goal = open ? (thing.hinge.userData.turn as number) : 0;
  }

  private liquid(thing: Thing, one: RoomObject): void {
    const kind = filling(one);
    if (kind === "") {
      if (thing.liquid) {
        thing.liquid.visible = false;
      }
      return;
    }
    if (!thing.liquid) {
      const [w, h, d] = size(one);
      thing.liquid = new Mesh(
        new CylinderGeometry(Math.min(w, d) * 0.4, Math.min(w, d) * 0.4, 0.02, 16),
        new MeshLambertMaterial(),
      );
      thing.liquid.position.y = h / 2 + 0.012;
      thing.group.add(thing.liquid);
    }
    thing.liquid.visible = true;
    thing.liquid.material.color.set(LIQUIDS[kind] ?? (LIQUIDS.water as string));
  }

  private slices(thing: Thing, one: RoomObject): void {
    if (one.state.includes("sliced") && !thing.cuts) {
      const [w, h, d] = size(one);
      const cuts = [-0.25, 0, 0.25].map((part) => {
        const plane = new EdgesGeometry(new BoxGeometry(0.001, h * 1.02, d * 1.02));
        return plane.translate(part * w, 0, 0);
      });
      thing.cuts = new LineSegments(cuts[0], new LineBasicMaterial({ color: EDGE }));
      for (const cut of cuts.slice(1)) {
        thing.cuts.add(new LineSegments(cut, new LineBasicMaterial({ color: EDGE })));
      }
      thing.group.add(thing.cuts);
    }
    if (thing.cuts) {
      thing.cuts.visible = one.state.includes("sliced");
    }
  }

  /** The outline of a thing where, or as, it was expected. */
  private ghost(one: RoomObject, state: RoomState): void {
    const [x, z] = middle(one.box);
    const held = state.held === one.name;
    const edges = new LineSegments(
      new EdgesGeometry(new BoxGeometry(...size(one).map((length) => length * 1.12))),
      new LineBasicMaterial({ color: GHOST }),
    );
    edges.position.set(
      held ? state.agent.x : x,
      held ? 1.1 : (one.box[1] + one.box[4]) / 2,
      held ? state.agent.z : z,
    );
    this.extras.add(edges);
  }

  private label(text: string, one: RoomObject, state: RoomState): void {
    const short = text.length > 24 ? `${text.slice(0, 23)}…` : text;
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [512, 64];
    const pen = canvas.getContext("2d");
    if (!pen) {
      return;
    }
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
    const sprite = new Sprite(new SpriteMaterial({ map: new CanvasTexture(canvas), depthTest: false }));
    const [x, z] = middle(one.box);
    const held = state.held === one.name;
    sprite.position.set(held ? state.agent.x : x, held ? 1.45 : one.box[4] + 0.2, held ? state.agent.z : z);
    sprite.scale.set(1.6, 0.2, 1);
    this.extras.add(sprite);
  }

  private clearExtras(): void {
    for (const one of [...this.extras.children]) {
      this.extras.remove(one);
      if (one instanceof Sprite) {
        one.material.map?.dispose();
        one.material.dispose();
      } else if (one instanceof LineSegments) {
        one.geometry.dispose();
        one.material.dispose();
      }
    }
  }

  private readonly draw = (): void => {
    this.idle = 0;
    if (this.frame === 0) {
      this.frame = requestAnimationFrame(this.tick);
    }
  };

  /** Draw until nothing has moved for a while: a still room costs nothing. */
  private readonly tick = (): void => {
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const part = still ? 1 : SPEED;
    const dx = this.target.x - this.robot.position.x;
    const dz = this.target.z - this.robot.position.z;
    this.robot.position.x += dx * part;
    this.robot.position.z += dz * part;
    this.robot.rotation.y = (this.target.yaw * Math.PI) / 180;
    const held = this.state?.held ? this.things.get(this.state.held) : undefined;
    held?.group.position.set(this.robot.position.x, 1.1, this.robot.position.z);
    let moves = Math.hypot(dx, dz) > 0.005;
    for (const { hinge } of this.things.values()) {
      if (hinge) {
        const rest = (hinge.userData.goal as number) - hinge.rotation.y;
        hinge.rotation.y += rest * part;
        hinge.visible = Math.abs(hinge.rotation.y) > 0.02;
        moves ||= Math.abs(rest) > 0.01;
      }
    }
    moves = this.controls.update() || moves;
    this.renderer.render(this.scene, this.camera);
    this.idle = moves ? 0 : this.idle + 1;
    this.frame = this.idle < 10 ? requestAnimationFrame(this.tick) : 0;
  };

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.place;
    this.camera.aspect = width / Math.max(1, height);
    this.camera.updateProjectionMatrix();
    this.renderer.setSize(width, height);
    this.draw();
  }

  private readonly hover = (event: PointerEvent): void => {
    const area = this.renderer.domElement.getBoundingClientRect();
    const point = new Vector2(
      ((event.clientX - area.left) / area.width) * 2 - 1,
      1 - ((event.clientY - area.top) / area.height) * 2,
    );
    const ray = new Raycaster();
    ray.setFromCamera(point, this.camera);
    const drawn = [...this.things.values()].filter((thing) => thing.group.visible && thing.group.parent);
    const [hit] = ray.intersectObjects(drawn.map((thing) => thing.body));
    this.onHover((hit?.object.userData.name as string | undefined) ?? "");
  };
}

/** The room in three dimensions: a box for each thing, moved by the steps of a run. */

import {
  AmbientLight,
  BoxGeometry,
  Color,
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
  Vector2,
  WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import type { RoomObject } from "../api";
import { middle, type RoomState } from "../model/room";

const COLOURS: Record<string, string> = {
  surface: "#b9a88c",
  furniture: "#a58f72",
  storage: "#8ca0ad",
  basin: "#9fb9c4",
  appliance: "#7d8791",
  fixture: "#a9a59d",
  small: "#d98b4a",
};
const HOT = "#d8503f";
const COLD = "#4d8fd0";
const SPEED = 0.18;

/** Return the colour of a thing: its kind's, or that of its heat. */
function colour(one: RoomObject): string {
  if (one.state.includes("hot")) {
    return HOT;
  }
  return one.state.includes("cold") ? COLD : (COLOURS[one.kind] ?? "#a0a0a0");
}

export class Room3D {
  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly camera = new PerspectiveCamera(45, 1, 0.1, 100);
  private readonly controls: OrbitControls;
  private readonly things = new Map<string, Group>();
  private readonly robot = new Group();
  private readonly target = { x: 0, z: 0, yaw: 0 };
  private readonly watcher: ResizeObserver;
  private state: RoomState | null = null;
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

  /** Show a state; things and the robot move there unless this is the first. */
  show(state: RoomState, about: Set<string>): void {
    const first = this.state === null;
    this.state = state;
    if (first) {
      this.furnish(state);
    }
    for (const [name, one] of state.objects) {
      const group = this.things.get(name);
      if (group) {
        this.pose(group, one, state, about.has(name));
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
    for (const one of boxes) {
      if (one.kind === "floor") {
        continue;
      }
      const size3 = [0, 1, 2].map((axis) =>
        Math.max(0.01, (one.box[axis + 3] as number) - (one.box[axis] as number)),
      );
      const geometry = new BoxGeometry(...size3);
      const group = new Group();
      const mesh = new Mesh(geometry, new MeshLambertMaterial({ color: colour(one), transparent: true }));
      mesh.userData = { name: one.name };
      const edges = new LineSegments(
        new EdgesGeometry(geometry),
        new LineBasicMaterial({ color: "#33302c" }),
      );
      (edges.material as LineBasicMaterial).transparent = true;
      (edges.material as LineBasicMaterial).opacity = 0.35;
      group.add(mesh, edges);
      this.things.set(one.name, group);
      this.scene.add(group);
    }
  }

  private pose(group: Group, one: RoomObject, state: RoomState, chosen: boolean): void {
    const [x, z] = middle(one.box);
    const held = state.held === one.name;
    const y = held ? 1.1 : (one.box[1] + one.box[4]) / 2;
    group.position.set(held ? state.agent.x : x, y, held ? state.agent.z : z);
    const [mesh, edges] = group.children as [Mesh, LineSegments];
    const material = mesh.material as MeshLambertMaterial;
    material.color = new Color(colour(one));
    const hanging = one.box[1] > 1.35 && one.kind !== "small";
    const open = one.state.includes("open");
    material.opacity = open ? 0.35 : hanging ? 0.25 : one.kind === "storage" ? 0.8 : 1;
    material.emissive = new Color(one.state.includes("on") ? "#6b5200" : "#000000");
    const line = edges.material as LineBasicMaterial;
    line.color = new Color(chosen ? "#e0a100" : "#33302c");
    line.opacity = chosen ? 1 : 0.35;
  }

  private readonly draw = (): void => {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(this.tick);
  };

  private readonly tick = (): void => {
    const dx = this.target.x - this.robot.position.x;
    const dz = this.target.z - this.robot.position.z;
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const part = still ? 1 : SPEED;
    this.robot.position.x += dx * part;
    this.robot.position.z += dz * part;
    this.robot.rotation.y = (this.target.yaw * Math.PI) / 180;
    const held = this.state?.held ? this.things.get(this.state.held) : undefined;
    held?.position.set(this.robot.position.x, 1.1, this.robot.position.z);
    this.controls.update();
    this.renderer.render(this.scene, this.camera);
    this.frame = requestAnimationFrame(this.tick);
  };

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.place;
    this.camera.aspect = width / Math.max(1, height);
    this.camera.updateProjectionMatrix();
    this.renderer.setSize(width, height);
  }

  private readonly hover = (event: PointerEvent): void => {
    const area = this.renderer.domElement.getBoundingClientRect();
    const point = new Vector2(
      ((event.clientX - area.left) / area.width) * 2 - 1,
      1 - ((event.clientY - area.top) / area.height) * 2,
    );
    const ray = new Raycaster();
    ray.setFromCamera(point, this.camera);
    const [hit] = ray.intersectObjects([...this.things.values()].map((group) => group.children[0] as Mesh));
    this.onHover((hit?.object.userData.name as string | undefined) ?? "");
  };
}

/** The room of a run: in three dimensions, and from above. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { RoomObject, Scene } from "../api";
import { loadRoom, type Room } from "../loader";
import { middle, type RoomState } from "../model/room";
import { Problem } from "../ui";

export interface StageProps {
  state: RoomState;
  /** Names of the things that the step is about. */
  about: Set<string>;
  names: Map<string, string>;
  /** Number of the step, which tells how long ago a thing was seen. */
  at: number;
  /** The expected state, if it differs from the observed one. */
  expected: RoomState | null;
  /** Names of the things that differ. */
  odd: string[];
}

/** Return how sure the robot is of a thing: 1 in view, less the longer it has not been seen. */
export function freshness(state: RoomState, name: string, at: number): number {
  const age = at - (state.seen.get(name) ?? at);
  return Math.max(0.25, 1 - age * 0.12);
}

function caption(one: RoomObject, names: Map<string, string>): string {
  const name = names.get(one.name) ?? one.name;
  return one.state.length > 0 ? `${name}: ${one.state.join(", ")}` : name;
}

export function Space(props: StageProps) {
  const place = useRef<HTMLDivElement>(null);
  const room = useRef<Room | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const [hovered, setHovered] = useState("");
  const [error, setError] = useState("");
  const { state, about, names, expected } = props;

  useEffect(() => {
    let ended = false;
    loadRoom()
      .then(({ Room3D }) => {
        if (!ended && place.current) {
          room.current = new Room3D(place.current, setHovered);
          room.current.show(latest.current);
        }
      })
      .catch((problem: Error) => setError(problem.message));
    return () => {
      ended = true;
      room.current?.end();
      room.current = null;
    };
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the rest follows from these
  useEffect(() => {
    room.current?.show(latest.current);
  }, [state, expected]);

  const one = state.objects.get(hovered);
  return (
    <div class="space">
      {error ? (
        <Problem text={`This browser cannot draw the room in 3D: ${error}. The floor plan shows the same.`} />
      ) : (
        <div class="canvas" ref={place} role="img" aria-label="The room in three dimensions; drag to turn" />
      )}
      <p class="caption">
        {one ? caption(one, names) : [...about].map((name) => names.get(name) ?? name).join(", ")}
      </p>
    </div>
  );
}

function rectangle(one: RoomObject) {
  const [x, z] = middle(one.box);
  const width = Math.max(one.box[3] - one.box[0], 0.04);
  const height = Math.max(one.box[5] - one.box[2], 0.04);
  return { x: x - width / 2, y: -z - height / 2, width, height, rx: 0.02 };
}

export function FloorPlan({ scene, state, about, names, at, expected, odd }: StageProps & { scene: Scene }) {
  const things = [...state.objects.values()].filter((one) => one.kind !== "floor");
  const xs = things.flatMap((one) => [one.box[0], one.box[3]]).concat(scene.grid.map(([x]) => x));
  const zs = things.flatMap((one) => [one.box[2], one.box[5]]).concat(scene.grid.map(([, z]) => z));
  const [x0, z0] = [Math.min(...xs) - 0.2, Math.min(...zs) - 0.2];
  const [width, depth] = [Math.max(...xs) + 0.2 - x0, Math.max(...zs) + 0.2 - z0];
  const ordered = things.sort((one, two) => one.box[4] - two.box[4]);
  return (
    <svg
      class="floorplan"
      viewBox={`${x0} ${-(z0 + depth)} ${width} ${depth}`}
      role="img"
      aria-label={`${scene.scene} from above`}
    >
      {scene.grid.map(([x, z]) => (
        <circle key={`${x} ${z}`} class="grid" cx={x} cy={-z} r="0.02" />
      ))}
      {ordered.map((one) => (
        <rect
          key={one.name}
          class={`thing ${one.kind} ${about.has(one.name) ? "chosen" : ""} ${one.box[1] > 1.35 ? "overhead" : ""} ${looks(one)}`}
          opacity={freshness(state, one.name, at)}
          {...rectangle(one)}
        >
          <title>{caption(one, names)}</title>
        </rect>
      ))}
      {odd.map((name) => {
        const one = expected?.objects.get(name);
        return one ? (
          <rect key={`expected ${name}`} class="expected" {...rectangle(one)}>
            <title>{`expected here: ${caption(one, names)}`}</title>
          </rect>
        ) : null;
      })}
      <g class="robot" transform={`translate(${state.agent.x} ${-state.agent.z}) rotate(${state.agent.yaw})`}>
        <circle r="0.16" />
        <path d="M0,-0.26 L0.09,-0.12 L-0.09,-0.12 Z" />
      </g>
      {[...about].map((name) => {
        const one = state.objects.get(name);
        if (!one || state.held === name) {
          return null;
        }
        const [x, z] = middle(one.box);
        return (
          <text key={name} class="label" x={x} y={-z - 0.12} text-anchor="middle">
            {(names.get(name) ?? name).slice(0, 40)}
          </text>
        );
      })}
    </svg>
  );
}

/** Return the states of a thing that have a look of their own. */
function looks(one: RoomObject): string {
  return ["on", "hot", "cold", "open"].filter((word) => one.state.includes(word)).join(" ");
}

/** A robot's room: ask for something, watch it, and replay any run. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Contents, get, type JobState, post, type RunData, readRun, type Scene } from "../api";
import { middle, people, type RoomState, roomStates, stepsOfRun, told } from "../model/room";
import { words } from "../model/trace";
import { address, type Route, replaceValue } from "../router";
import { Empty, Problem, Tabs, useLoaded, Waiting } from "../ui";

const WAYS = [
  { id: "3d", name: "Room" },
  { id: "plan", name: "Floor plan" },
] as const;
const PAUSE = 900;

export function RoomView({ contents, route }: { contents: Contents; route: Route }) {
  const chosen = route.values.get("run") ?? contents.runs[0]?.name ?? "";
  const [version, setVersion] = useState(0);
  const loaded = useLoaded(`${chosen} ${version}`, async () => (chosen ? readRun(chosen) : null));
  const running = loaded.data?.about.state === "running";

  useEffect(() => {
    // A run that goes on, here or in a terminal, is read again until it ends.
    if (!running) {
      return undefined;
    }
    const timer = setTimeout(() => setVersion((old) => old + 1), 700);
    return () => clearTimeout(timer);
  }, [running, version]);

  return (
    <div class="roomview">
      <Ask
        onRun={(name) => {
          location.hash = address("room", { run: name }).slice(1);
          setVersion((old) => old + 1);
        }}
      />
      {loaded.error && <Problem text={loaded.error} />}
      {!chosen && <Empty title="No run yet">Ask for something above, such as "make coffee".</Empty>}
      {chosen && !loaded.data && !loaded.error && <Waiting what="Reading the run" />}
      {loaded.data && <Replay key={chosen} run={loaded.data} route={route} running={running} />}
    </div>
  );
}

/** Ask for something; the answer is a run of its own. */
function Ask({ onRun }: { onRun: (name: string) => void }) {
  const [text, setText] = useState("");
  const [note, setNote] = useState("");
  const [busy, setBusy] = useState(false);

  const ask = async (event: Event) => {
    event.preventDefault();
    if (text.trim() === "" || busy) {
      return;
    }
    setBusy(true);
    setNote("Reading, planning and proving…");
    const name = `studio-${new Date().toISOString().replace(/\D/g, "").slice(2, 14)}`;
    try {
      const asked = { request: text, execute: true, run: name, seconds: 60 };
      let job = await post<JobState>("/v1/jobs", { operation: "plan_request", request: asked });
      let shown = false;
      while (job.state === "queued" || job.state === "running") {
        await new Promise((done) => setTimeout(done, 300));
        job = await get<JobState>(`/v1/jobs/${job.id}`);
        if (!shown && job.state === "running") {
          shown = await readRun(name).then(
            () => true,
            () => false,
          );
          if (shown) {
            onRun(name);
          }
        }
      }
      if (job.error) {
        setNote(job.error.message);
      } else {
        setNote("");
        onRun(name);
      }
    } catch (error) {
      setNote((error as Error).message);
    }
    setBusy(false);
  };

  return (
    <form class="ask" onSubmit={ask}>
      <label for="request">Ask the robot</label>
      <div class="row">
        <input
          id="request"
          value={text}
          placeholder="put two slices of tomato on a plate"
          autocomplete="off"
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" class="main" disabled={busy}>
          {busy ? "Working…" : "Go"}
        </button>
      </div>
      <p class="note" role="status">
        {note}
      </p>
    </form>
  );
}

interface ReplayProps {
  run: RunData;
  route: Route;
  running: boolean;
}

function Replay({ run, route, running }: ReplayProps) {
  const steps = useMemo(() => stepsOfRun(run), [run]);
  const states = useMemo(() => roomStates(run), [run]);
  const names = useMemo(() => people(run.before?.objects ?? []), [run]);
  const [at, setAt] = useState(Number(route.values.get("step") ?? "0"));
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(1);
  const way = (route.values.get("way") ?? "3d") as (typeof WAYS)[number]["id"];
  const here = running ? steps.length : Math.min(at, steps.length);
  const state = states[here];
  const step = here > 0 ? steps[here - 1] : undefined;
  const about = new Set(step ? words(step.action).slice(1) : []);

  useEffect(() => {
    if (!playing) {
      return undefined;
    }
    if (here >= steps.length) {
      setPlaying(false);
      return undefined;
    }
    const timer = setTimeout(() => setAt(here + 1), PAUSE / speed);
    return () => clearTimeout(timer);
  }, [playing, here, steps.length, speed]);

  const go = (number: number) => {
    setPlaying(false);
    setAt(Math.max(0, Math.min(number, steps.length)));
  };
  const play = () => {
    if (here >= steps.length) {
      setAt(0);
    }
    setPlaying((old) => !old);
  };

  const finished = run.events.find((event) => event.event === "finished");
  return (
    <section class="replay" aria-label="The run">
      <div class="row">
        <h1 class="small">{String(run.about.request ?? run.name)}</h1>
        <span class="faint">{String(run.about.scene ?? "")}</span>
        <span class={`tag ${finished?.reached ? "good" : finished ? "bad" : ""}`} role="status">
          {running
            ? "running"
            : finished
              ? finished.reached
                ? "goal reached"
                : "goal not reached"
              : "not finished"}
        </span>
        <Tabs
          label="The room as"
          tabs={WAYS}
          chosen={way}
          onChoose={(id) => replaceValue(route, "way", id)}
        />
      </div>
      <div class="split">
        <div class="stage">
          {run.before === null || state === undefined ? (
            <Empty title="No room was recorded">This run has steps but no scene.</Empty>
          ) : way === "plan" ? (
            <FloorPlan scene={run.before} state={state} about={about} names={names} />
          ) : (
            <Space state={state} about={about} names={names} />
          )}
          <div class="controls">
            <button type="button" onClick={() => go(0)} aria-label="To the beginning">
              |◀
            </button>
            <button type="button" onClick={() => go(here - 1)} aria-label="Back">
              ◀
            </button>
            <button type="button" class="main" onClick={play} disabled={running || steps.length === 0}>
              {playing ? "Pause" : "Play"}
            </button>
            <button type="button" onClick={() => go(here + 1)} aria-label="Forward">
              ▶
            </button>
            <input
              type="range"
              min="0"
              max={steps.length}
              value={here}
              aria-label="Step"
              onInput={(event) => go(Number(event.currentTarget.value))}
            />
            <span class="faint">
              {here} of {steps.length}
            </span>
            <label class="faint">
              Speed{" "}
              <select value={String(speed)} onChange={(event) => setSpeed(Number(event.currentTarget.value))}>
                {["0.5", "1", "2", "4"].map((one) => (
                  <option key={one} value={one}>
                    {one}×
                  </option>
                ))}
              </select>
            </label>
          </div>
        </div>
        <ol class="story" aria-label="Steps" tabIndex={0}>
          {steps.map((one, index) => (
            <li
              key={one.number}
              class={`${index + 1 === here ? "chosen" : ""} ${one.asExpected ? "" : "failed"}`}
            >
              <button
                type="button"
                onClick={() => go(index + 1)}
                aria-current={index + 1 === here ? "step" : undefined}
              >
                <span class="number">{one.number}</span>
                <span>{told(one.action, names)}</span>
              </button>
              {one.error && <p class="remark">{one.error}</p>}
              {one.remarks.map((remark) => (
                <p key={remark} class="remark">
                  {remark}
                </p>
              ))}
            </li>
          ))}
          {steps.length === 0 && <li class="faint">no step yet</li>}
        </ol>
      </div>
    </section>
  );
}

interface ShownProps {
  state: RoomState;
  about: Set<string>;
  names: Map<string, string>;
}

function Space({ state, about, names }: ShownProps) {
  const place = useRef<HTMLDivElement>(null);
  const room = useRef<{ show(state: RoomState, about: Set<string>): void; end(): void } | null>(null);
  const latest = useRef({ state, about });
  latest.current = { state, about };
  const [hovered, setHovered] = useState("");
  const [error, setError] = useState("");

  useEffect(() => {
    let ended = false;
    import("./room3d")
      .then(({ Room3D }) => {
        if (!ended && place.current) {
          room.current = new Room3D(place.current, setHovered);
          room.current.show(latest.current.state, latest.current.about);
        }
      })
      .catch((problem: Error) => setError(problem.message));
    return () => {
      ended = true;
      room.current?.end();
      room.current = null;
    };
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: `about` follows from the state
  useEffect(() => {
    room.current?.show(state, about);
  }, [state]);

  const one = state.objects.get(hovered);
  return (
    <div class="space">
      {error ? (
        <Problem text={`This browser draws no three dimensions: ${error}. The floor plan shows the same.`} />
      ) : (
        <div class="canvas" ref={place} role="img" aria-label="The room in three dimensions; drag to turn" />
      )}
      <p class="caption">
        {one
          ? `${names.get(one.name) ?? one.name}${one.state.length > 0 ? `: ${one.state.join(", ")}` : ""}`
          : [...about].map((name) => names.get(name) ?? name).join(", ")}
      </p>
    </div>
  );
}

function FloorPlan({ scene, state, about, names }: ShownProps & { scene: Scene }) {
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
      {ordered.map((one) => {
        const held = state.held === one.name;
        const [x, z] = held ? [state.agent.x, state.agent.z] : middle(one.box);
        const [w, d] = [one.box[3] - one.box[0], one.box[5] - one.box[2]];
        return (
          <rect
            key={one.name}
            class={`thing ${one.kind} ${about.has(one.name) ? "chosen" : ""} ${one.box[1] > 1.35 ? "overhead" : ""}`}
            x={x - w / 2}
            y={-z - d / 2}
            width={Math.max(w, 0.04)}
            height={Math.max(d, 0.04)}
            rx="0.02"
          >
            <title>{`${names.get(one.name) ?? one.name}${one.state.length > 0 ? `: ${one.state.join(", ")}` : ""}`}</title>
          </rect>
        );
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
            {names.get(name) ?? name}
          </text>
        );
      })}
    </svg>
  );
}

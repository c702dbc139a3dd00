/** A robot's room: ask for something, watch it, and replay any run. */

import { useEffect, useRef, useState } from "preact/hooks";
import { type Contents, get, type JobState, post, readRun, watchRun } from "../api";
import type { RunDocument } from "../model/story";
import { address, type Route } from "../router";
import { Empty, Problem, Waiting } from "../ui";
import { Replay } from "./replay";
import { SaveRun } from "./savefile";

/** Milliseconds between two looks at a run in progress. */
const PATIENCE = 500;

/** A run that is read again until it ends, wherever it is carried out. */
function useRun(name: string, kick: number): { run: RunDocument | null; error: string } {
  const [run, setRun] = useState<RunDocument | null>(null);
  const [error, setError] = useState("");
  // biome-ignore lint/correctness/useExhaustiveDependencies: `kick` reads the run again
  useEffect(() => {
    let timer = 0;
    let ended = false;
    let seen = "";
    const read = async () => {
      try {
        const found = await watchRun(name, seen);
        if (ended) {
          return;
        }
        if (found) {
          seen = found.version;
          setRun(found);
          setError("");
        }
        if (!found || found.story.state === "running") {
          timer = window.setTimeout(read, PATIENCE);
        }
      } catch (problem) {
        if (!ended) {
          setError((problem as Error).message);
        }
      }
    };
    if (name) {
      read();
    }
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, [name, kick]);
  return { run: run?.name === name ? run : null, error };
}

export function RoomView({ contents, route }: { contents: Contents; route: Route }) {
  const chosen = route.values.get("run") ?? contents.runs[0]?.name ?? "";
  const [version, setVersion] = useState(0);
  const { run, error } = useRun(chosen, version);
  return (
    <div class="roomview">
      <Ask
        newcomer={!chosen}
        onRun={(name) => {
          location.hash = address("room", { run: name }).slice(1);
          setVersion((old) => old + 1);
        }}
      />
      {error && <Problem text={error} />}
      {!chosen && <Empty title="No run yet">Ask for something above, then watch it step by step.</Empty>}
      {chosen && !run && !error && <Waiting what="Reading the run" />}
      {run && <Replay key={chosen} run={run} route={route} save={<SaveRun name={run.name} />} />}
    </div>
  );
}

/** What can go wrong, in words, by the fault's name. */
const FAULTS: Record<string, string> = {
  drop: "it drops what it holds",
  slippery_hand: "a thing slips from its hand",
  silent_failure: "an action reports success but does nothing",
  failed_action: "an action is refused",
  missing_step: "an action is never sent",
  blocked: "something is in the way",
  occupied: "a place is occupied",
  wrong_object: "another object is moved instead",
  swapped: "two switches are swapped",
  moved_by_other: "another agent moves a thing",
  changed_by_other: "another agent changes a thing",
  wrong_perception: "it sees a thing wrongly",
  sensor_noise: "its sensor is noisy",
};
const SIGHTS = [
  { id: "", name: "everything" },
  { id: "doors", name: "nothing behind closed doors" },
  { id: "visible", name: "only what is near and in front of it" },
];
const EXAMPLES = [
  "make coffee",
  "wash the plate and put it in a cabinet",
  "put two slices of tomato on a plate",
];

/** Ask for something; the answer is a run of its own. */
function Ask({ newcomer, onRun }: { newcomer: boolean; onRun: (name: string) => void }) {
  const harder = useRef<HTMLDetailsElement>(null);
  const [text, setText] = useState("");
  const [note, setNote] = useState("");
  const [busy, setBusy] = useState(false);
  const [faults, setFaults] = useState<string[]>([]);
  const [sight, setSight] = useState("");

  const ask = async (event: Event) => {
    event.preventDefault();
    if (text.trim() === "" || busy) {
      return;
    }
    setBusy(true);
    if (harder.current) {
      harder.current.open = false; // the room needs the space
    }
    setNote("Reading, planning and proving…");
    const name = `studio-${new Date().toISOString().replace(/\D/g, "").slice(2, 17)}`;
    try {
      const asked = { request: text, execute: true, run: name, seconds: 60, faults, sight };
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
          list="requests"
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <datalist id="requests">
          {EXAMPLES.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
        <button type="submit" class="main" disabled={busy}>
          {busy ? "Working…" : "Go"}
        </button>
      </div>
      {newcomer && (
        <div class="row">
          <span class="faint">Try</span>
          {EXAMPLES.map((one) => (
            <button key={one} type="button" class="small" onClick={() => setText(one)}>
              {one}
            </button>
          ))}
        </div>
      )}
      <details ref={harder}>
        <summary>
          Make it harder
          {faults.length > 0 && `: ${faults.length === 1 ? "one fault" : `${faults.length} faults`}`}
        </summary>
        <fieldset class="faults">
          <legend>Let something go wrong, once each</legend>
          {Object.entries(FAULTS).map(([kind, words]) => (
            <button
              key={kind}
              type="button"
              aria-pressed={faults.includes(kind)}
              onClick={() =>
                setFaults((old) => (old.includes(kind) ? old.filter((one) => one !== kind) : [...old, kind]))
              }
            >
              {words}
            </button>
          ))}
        </fieldset>
        <label>
          The robot sees{" "}
          <select value={sight} onChange={(event) => setSight(event.currentTarget.value)}>
            {SIGHTS.map((one) => (
              <option key={one.id} value={one.id}>
                {one.name}
              </option>
            ))}
          </select>
        </label>
      </details>
      <p class="note" role="status">
        {note}
      </p>
    </form>
  );
}

/** A robot's room: ask for something, watch it, and replay any run. */

import { useEffect, useState } from "preact/hooks";
import { type Contents, get, type JobState, post, readRun } from "../api";
import { address, type Route } from "../router";
import { Empty, Problem, useLoaded, Waiting } from "../ui";
import { Replay } from "./replay";

export function RoomView({ contents, route }: { contents: Contents; route: Route }) {
  const chosen = route.values.get("run") ?? contents.runs[0]?.name ?? "";
  const [version, setVersion] = useState(0);
  const loaded = useLoaded(`${chosen} ${version}`, async () => (chosen ? readRun(chosen) : null));
  const running = loaded.data?.story.state === "running";

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
      {loaded.data && <Replay key={chosen} run={loaded.data} route={route} />}
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

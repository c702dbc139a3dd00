/** A run step by step: its room, what was expected and observed, its plans and its dialogue. */

import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import {
  differing,
  expectedState,
  factWords,
  people,
  type RoomState,
  remarksOf,
  roomStates,
  told,
} from "../model/room";
import { observed, type RunDocument, type StoryStep } from "../model/story";
import { words } from "../model/trace";
import { type Route, replaceValue } from "../router";
import { Empty, kept, Tabs, useFollowed, useSteady } from "../ui";
import { About, Dialogue, Objects, Plans } from "./runparts";
import { FloorPlan, Space } from "./stage";

const WAYS = [
  { id: "3d", name: "Room" },
  { id: "plan", name: "Floor plan" },
] as const;
const PAUSE = 900;

interface Props {
  run: RunDocument;
  route: Route;
  /** How the run is saved, where that is possible. */
  save?: ComponentChildren;
}

export function Replay({ run, route, save }: Props) {
  const { story } = run;
  const { steps } = story;
  const running = story.state === "running";
  const states = useMemo(() => roomStates(run), [run]);
  const names = useMemo(
    () =>
      people(
        new Map(
          [run.after, run.before].flatMap((one) => one?.objects ?? []).map((one) => [one.name, one]),
        ).values(),
      ),
    [run],
  );
  const [at, setAt] = useState(Number(route.values.get("step") ?? "0"));
  const [follows, setFollows] = useState(true);
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(1);
  const here = running && follows ? steps.length : Math.max(0, Math.min(at, steps.length));
  const step = here > 0 ? steps[here - 1] : undefined;

  useEffect(() => {
    if (!playing) {
      return undefined;
    }
    if (here >= steps.length) {
      setPlaying(running);
      setFollows(true);
      return undefined;
    }
    const timer = setTimeout(() => setAt(here + 1), PAUSE / speed);
    return () => clearTimeout(timer);
  }, [playing, here, steps.length, speed, running]);

  const go = useSteady((number: number) => {
    setPlaying(false);
    setFollows(number >= steps.length);
    setAt(Math.max(0, Math.min(number, steps.length)));
  });
  const play = () => {
    setFollows(false);
    setAt(here >= steps.length ? 0 : here);
    setPlaying((old) => !old);
  };
  const keys = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) || target.getAttribute("role") === "tab") {
      return;
    }
    const moves: Record<string, number> = {
      ArrowRight: here + 1,
      ArrowLeft: here - 1,
      Home: 0,
      End: steps.length,
    };
    const next = moves[event.key];
    const move =
      next !== undefined
        ? () => go(next)
        : event.key === " " && target.tagName !== "BUTTON"
          ? play
          : undefined;
    if (move) {
      event.preventDefault();
      move();
    }
  };

  return (
    // The keys are those of the buttons below.
    <section class="replay" aria-label="The run" onKeyDown={keys}>
      <div class="row">
        <h1 class="small">{story.request}</h1>
        <Verdict run={run} />
        {save}
      </div>
      {story.outcome !== "The goal is reached." && (
        <p class={story.reached === false ? "outcome bad" : "outcome"}>{story.outcome}</p>
      )}
      {story.simulated && (
        <p class="warning">A simulated model made this plan; no language model was asked.</p>
      )}
      <div class="split">
        <div class="stage">
          <Shown run={run} states={states} at={here} names={names} route={route} />
          <Controls
            here={here}
            steps={steps.length}
            playing={playing}
            speed={speed}
            go={go}
            play={play}
            setSpeed={setSpeed}
          />
          {step && <Detail key={step.number} step={step} names={names} />}
        </div>
        <Steps steps={steps} here={here} go={go} names={names} />
      </div>
      <Rest run={run} names={names} go={go} />
    </section>
  );
}

/** What stays the same while the run is played. */
const Rest = kept(
  ({ run, names, go }: { run: RunDocument; names: Map<string, string>; go: (number: number) => void }) => (
    <>
      <Plans story={run.story} names={names} go={go} />
      <Dialogue story={run.story} />
      <Objects run={run} names={names} />
      <About story={run.story} />
    </>
  ),
);

function Verdict({ run }: { run: RunDocument }) {
  const { story } = run;
  const text =
    story.state === "running"
      ? "running"
      : story.state !== "finished"
        ? "not finished"
        : story.reached === null
          ? "not judged"
          : story.reached
            ? "goal reached"
            : "goal not reached";
  const kind = text === "goal reached" ? "good" : text === "goal not reached" ? "bad" : "";
  return (
    <>
      <span class="faint">{story.scene}</span>
      <span class={`tag ${kind}`} role="status">
        {text}
      </span>
    </>
  );
}

interface ShownProps {
  run: RunDocument;
  states: RoomState[];
  at: number;
  names: Map<string, string>;
  route: Route;
}

function Shown({ run, states, at, names, route }: ShownProps) {
  const [compare, setCompare] = useState(true);
  const way = (route.values.get("way") ?? "3d") as (typeof WAYS)[number]["id"];
  const state = states[at];
  const before = states[at - 1];
  const step = run.story.steps[at - 1];
  const about = useMemo(() => new Set(step ? words(step.action).slice(1) : []), [step]);
  const expected = useMemo(
    () => (compare && before && !step?.as_expected ? expectedState(before, run, at) : null),
    [compare, before, step, run, at],
  );
  if (run.before === null || state === undefined) {
    return <Facts steps={run.story.steps} at={at} />;
  }
  const odd = expected ? differing(expected, state) : [];
  const hidden = [...state.seen.values()].some((last) => last < at);
  return (
    <>
      <div class="row">
        <Tabs
          label="The room as"
          tabs={WAYS}
          chosen={way}
          onChoose={(id) => replaceValue(route, "way", id)}
        />
        <label class="faint">
          <input
            type="checkbox"
            checked={compare}
            onChange={(event) => setCompare(event.currentTarget.checked)}
          />{" "}
          what was expected, as an outline
        </label>
      </div>
      {way === "plan" ? (
        <FloorPlan scene={run.before} {...{ state, about, names, at, expected, odd }} />
      ) : (
        <Space {...{ state, about, names, at, expected, odd }} />
      )}
      {hidden && (
        <p class="faint">
          Pale things have been out of view since an earlier step; the longer, the paler.
          {run.sight === "visible" && " The view is estimated from the robot's position and direction."}
        </p>
      )}
      {run.story.note && <p class="faint">{run.story.note}</p>}
    </>
  );
}

/** The facts that a run has changed so far; PDDL worlds have no room. */
function Facts({ steps, at }: { steps: StoryStep[]; at: number }) {
  const last = new Map<string, string>();
  for (const step of steps.slice(0, at)) {
    for (const fact of step.changed) {
      last.set(fact.replace(/^\(not (.*)\)$/, "$1").replace(/^\(= (.*) \S+\)$/, "$1"), fact);
    }
  }
  if (steps.every((step) => step.changed.length === 0)) {
    return <Empty title="No room was recorded">This run has steps but no scene.</Empty>;
  }
  const now = new Set(steps[at - 1]?.changed ?? []);
  return (
    <section class="world" aria-label="What the run has changed" tabIndex={0}>
      <h2>{at === 0 ? "Nothing is changed yet" : "What the run has changed so far"}</h2>
      <ul class="facts">
        {[...last.values()].sort().map((fact) => (
          <li key={fact} class={now.has(fact) ? (fact.startsWith("(not ") ? "gone" : "new") : ""}>
            {fact}
          </li>
        ))}
      </ul>
    </section>
  );
}

interface ControlsProps {
  here: number;
  steps: number;
  playing: boolean;
  speed: number;
  go: (number: number) => void;
  play: () => void;
  setSpeed: (speed: number) => void;
}

function Controls({ here, steps, playing, speed, go, play, setSpeed }: ControlsProps) {
  return (
    <div class="controls">
      <button type="button" onClick={() => go(0)} aria-label="To the beginning">
        |◀
      </button>
      <button type="button" onClick={() => go(here - 1)} aria-label="Back">
        ◀
      </button>
      <button type="button" class="main" onClick={play} disabled={steps === 0}>
        {playing ? "Pause" : "Play"}
      </button>
      <button type="button" onClick={() => go(here + 1)} aria-label="Forward">
        ▶
      </button>
      <input
        type="range"
        min="0"
        max={steps}
        value={here}
        aria-label="Step"
        onInput={(event) => go(Number(event.currentTarget.value))}
      />
      <span class="faint">
        {here} of {steps}
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
  );
}

interface StepsProps {
  steps: StoryStep[];
  here: number;
  go: (number: number) => void;
  names: Map<string, string>;
}

function Steps({ steps, here, go, names }: StepsProps) {
  const list = useFollowed<HTMLOListElement>(here);
  return (
    <ol class="story" aria-label="Steps" tabIndex={0} ref={list}>
      {steps.map((one, index) => (
        <StoryRow
          key={one.number}
          step={one}
          place={index + 1}
          chosen={index + 1 === here}
          turn={index > 0 && one.plan !== steps[index - 1]?.plan}
          go={go}
          names={names}
        />
      ))}
      {steps.length === 0 && <li class="faint">no step yet</li>}
    </ol>
  );
}

interface StoryRowProps {
  step: StoryStep;
  place: number;
  chosen: boolean;
  /** Whether a new plan begins. */
  turn: boolean;
  go: (number: number) => void;
  names: Map<string, string>;
}

const StoryRow = kept(({ step, place, chosen, turn, go, names }: StoryRowProps) => (
  <li class={`${chosen ? "chosen" : ""} ${step.as_expected ? "" : "failed"}`}>
    {turn && <p class="turn">a new plan</p>}
    <button type="button" onClick={() => go(place)} aria-current={chosen ? "step" : undefined}>
      <span class="number">{step.number}</span>
      <span>{told(step.action, names)}</span>
    </button>
    {step.error && <p class="remark">{step.error}</p>}
    {remarksOf(step, names).map((remark, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: a remark is its place
      <p key={index} class={`remark ${remark.event}`}>
        {remark.text}
      </p>
    ))}
  </li>
));

function Detail({ step, names }: { step: StoryStep; names: Map<string, string> }) {
  const [added, deleted] = step.expected ?? [[], []];
  const [came, went] = observed(step);
  return (
    <section class="detail" aria-label="Expected and observed">
      <div>
        <h3>Expected</h3>
        <ul>
          {added.map((fact) => (
            <li key={`+${fact}`}>{factWords(fact, names)}</li>
          ))}
          {deleted.map((fact) => (
            <li key={`-${fact}`}>{factWords(fact, names, false)}</li>
          ))}
          {added.length + deleted.length === 0 && (
            <li class="faint">{step.expected ? "no change" : "not known"}</li>
          )}
        </ul>
      </div>
      <div>
        <h3>Observed</h3>
        <ul>
          {!step.success && <li class="bad">{step.error || "the environment reported a failure"}</li>}
          {step.missing.map((fact) => (
            <li key={`m${fact}`} class="bad">
              {factWords(fact, names, false)}
            </li>
          ))}
          {(step.changed.length > 0 ? came : step.unexpected).map((fact) => (
            <li key={`u${fact}`} class={step.changed.length > 0 ? "" : "bad"}>
              {factWords(fact, names)}
            </li>
          ))}
          {step.changed.length > 0 &&
            went.map((fact) => <li key={`w${fact}`}>{factWords(fact, names, false)}</li>)}
          {step.unseen.map((fact) => (
            <li key={`n${fact}`} class="faint">
              {factWords(fact, names)}: believed, not in view
            </li>
          ))}
          {step.heard.length > 0 && <li>heard: {step.heard.join(", ")}</li>}
          {step.as_expected && step.changed.length === 0 && <li class="good">as expected</li>}
        </ul>
        {step.sent.length > 0 && (
          <details>
            <summary>Sent to the environment</summary>
            <ul class="sent">
              {step.sent.map((line) => (
                <li key={line}>
                  <code>{line}</code>
                </li>
              ))}
            </ul>
          </details>
        )}
      </div>
    </section>
  );
}

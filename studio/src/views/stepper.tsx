/** The steps of a plan, one state after the other. */

import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Trace, TracedStep } from "../api";
import { causes, chain, stateAfter } from "../model/trace";
import { kept, useFollowed, useSteady } from "../ui";
import { Literal } from "./literal";

interface Props {
  trace: Trace;
  /** Number of the change that is shown; 0 is the initial state. */
  chosen: number;
  onChoose: (number: number) => void;
  /** What can be done about a plan that fails. */
  remedy?: ComponentChildren;
}

const MOST_FACTS = 400;

export function Stepper({ trace, chosen, onChoose, remedy }: Props) {
  const choose = useSteady(onChoose);
  const [filter, setFilter] = useState("");
  const all = useMemo(() => causes(trace), [trace]);
  const at = Math.max(0, Math.min(chosen, trace.steps.length));
  const step = at > 0 ? trace.steps[at - 1] : undefined;
  const lit = useMemo(() => (step ? chain(all, step.step) : new Set<number>()), [all, step]);
  const state = useMemo(() => stateAfter(trace, at), [trace, at]);
  const added = new Set(step?.ok ? step.added : []);
  const shown = state.filter((fact) => fact.includes(filter.toLowerCase()));
  const list = useFollowed<HTMLOListElement>(at);

  const keys = (event: KeyboardEvent) => {
    const moves: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: trace.steps.length,
    };
    const next = moves[event.key];
    if (next !== undefined) {
      event.preventDefault();
      onChoose(Math.max(0, Math.min(next, trace.steps.length)));
    }
  };

  return (
    <div class="stepper">
      <ol
        class="steps"
        ref={list}
        tabIndex={0}
        onKeyDown={keys}
        aria-label="Steps; use the arrow keys to move"
      >
        <li class={at === 0 ? "chosen" : ""}>
          <button type="button" tabIndex={-1} onClick={() => onChoose(0)}>
            <span class="number">0</span>
            <span>initial state</span>
          </button>
        </li>
        {trace.steps.map((one, index) => (
          <StepRow
            // biome-ignore lint/suspicious/noArrayIndexKey: a step is its place in the plan
            key={index}
            step={one}
            place={index + 1}
            chosen={at === index + 1}
            lit={lit.has(one.step)}
            choose={choose}
          />
        ))}
        {trace.report.executed < trace.report.steps && (
          <li class="rest">{trace.report.steps - trace.steps.length} more steps are not reached</li>
        )}
      </ol>
      <section class="state" aria-label="The chosen step and its state" tabIndex={0}>
        {step && !step.ok && (
          <div class="why">
            <h3>Why this step fails</h3>
            <p>{trace.report.failure?.message}</p>
            {remedy}
          </div>
        )}
        {trace.report.failure && trace.missing.length === 0 && trace.steps.every((one) => one.ok) && (
          <div class="why">
            <h3>The plan is not valid</h3>
            <p>{trace.report.failure.message}</p>
            {remedy}
          </div>
        )}
        {at === trace.steps.length && (step?.ok ?? true) && trace.missing.length > 0 && (
          <div class="why">
            <h3>The goal lacks</h3>
            <ul class="facts">
              {trace.missing.map((fact) => (
                <li key={fact} class="gone">
                  <Literal text={fact} />
                </li>
              ))}
            </ul>
            {remedy}
          </div>
        )}
        {step && step.needs.length > 0 && (
          <>
            <h3>Needs</h3>
            <ul class="facts">
              {step.needs.map((need) => (
                <li key={need.condition} class={need.holds ? "" : "gone"}>
                  <Literal text={need.condition} />
                  {need.made_true_by !== null && (
                    <button
                      type="button"
                      class="link"
                      onClick={() => onChoose(changeOf(trace, need.made_true_by ?? 0, at))}
                    >
                      {need.made_true_by === 0 ? "from the start" : `by step ${need.made_true_by}`}
                    </button>
                  )}
                </li>
              ))}
            </ul>
          </>
        )}
        {step?.ok && (
          <>
            <h3>Changes</h3>
            <ul class="facts">
              {step.added.map((fact) => (
                <li key={`+${fact}`} class="new">
                  + <Literal text={fact} />
                </li>
              ))}
              {step.deleted.map((fact) => (
                <li key={`-${fact}`} class="gone">
                  − <Literal text={fact} />
                </li>
              ))}
              {step.added.length + step.deleted.length === 0 && <li>nothing</li>}
            </ul>
          </>
        )}
        <div class="row">
          <h3>State</h3>
          <input
            type="search"
            value={filter}
            placeholder="find a fact"
            aria-label="Find a fact"
            onInput={(event) => setFilter(event.currentTarget.value)}
          />
        </div>
        <ul class="facts">
          {shown.slice(0, MOST_FACTS).map((fact) => (
            <FactRow key={fact} fact={fact} fresh={added.has(fact)} />
          ))}
        </ul>
        {shown.length > MOST_FACTS && (
          <p class="faint">{shown.length - MOST_FACTS} more; search to see them</p>
        )}
      </section>
    </div>
  );
}

interface StepRowProps {
  step: TracedStep;
  place: number;
  chosen: boolean;
  lit: boolean;
  choose: (number: number) => void;
}

const StepRow = kept(({ step, place, chosen, lit, choose }: StepRowProps) => (
  <li class={`${chosen ? "chosen" : ""} ${step.ok ? "" : "failed"} ${lit ? "lit" : ""}`}>
    <button
      type="button"
      tabIndex={-1}
      onClick={() => choose(place)}
      aria-current={chosen ? "step" : undefined}
    >
      <span class="number">{step.time === null ? step.step : step.time}</span>
      <span>{step.action ? <Literal text={step.action} /> : "timed fact"}</span>
    </button>
  </li>
));

const FactRow = kept(({ fact, fresh }: { fact: string; fresh: boolean }) => (
  <li class={fresh ? "new" : ""}>
    <Literal text={fact} />
  </li>
));

/** Return the last change of a step before some place. */
function changeOf(trace: Trace, step: number, before: number): number {
  const places = trace.steps.flatMap((one, index) =>
    one.step === step && index + 1 < before ? [index + 1] : [],
  );
  return places.at(-1) ?? 0;
}

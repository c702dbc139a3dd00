/** What a run holds beside its steps: plans, the dialogue with a model, objects, and its conditions. */

import { useMemo } from "preact/hooks";
import { told } from "../model/room";
import type { RunDocument, Story, StoryBlock } from "../model/story";

interface PlansProps {
  story: Story;
  names: Map<string, string>;
  go: (number: number) => void;
}

/** The plans as macro actions; each action leads to the step that tried it last. */
export function Plans({ story, names, go }: PlansProps) {
  const tried = useMemo(() => story.plans.map((_, plan) => attempts(story, plan)), [story]);
  if (story.plans.length === 0) {
    return null;
  }
  return (
    <details class="part">
      <summary>{story.plans.length === 1 ? "The plan" : `${story.plans.length} plans`}</summary>
      {story.plans.map((plan, number) => {
        let action = 0;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a plan is its place
          <section key={number} aria-label={`Plan ${number + 1}`}>
            <h3>
              Plan {number + 1}
              {plan.planner && `, by ${plan.planner}`}
              {plan.validator && `; validator: ${plan.validator}`}
            </h3>
            {plan.reason && <p>A new plan, because {plan.reason}</p>}
            <ol class="blocks">
              {plan.blocks.map((block, place) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a block is its place
                <li key={place}>
                  <strong>{block.name}</strong>
                  <ol>
                    {block.actions.map((text) => {
                      const at = tried[number]?.[action++];
                      return (
                        <li key={action}>
                          {at === undefined ? (
                            <span class="faint">{told(text, names)}: not done</span>
                          ) : (
                            <button type="button" class="link" onClick={() => go(at)}>
                              {told(text, names)}
                            </button>
                          )}
                        </li>
                      );
                    })}
                  </ol>
                  <Conditions block={block} />
                </li>
              ))}
            </ol>
          </section>
        );
      })}
    </details>
  );
}

/** Return, for each action of a plan, the place of the step that tried it last. */
function attempts(story: Story, plan: number): (number | undefined)[] {
  const actions = (story.plans[plan]?.blocks ?? []).flatMap((block) => block.actions);
  const tried = new Array<number | undefined>(actions.length).fill(undefined);
  let next = 0;
  for (const [index, step] of story.steps.entries()) {
    if (step.plan !== plan) {
      continue;
    }
    if (next < actions.length && step.action === actions[next]) {
      tried[next++] = index + 1;
    } else if (next > 0 && step.action === actions[next - 1]) {
      tried[next - 1] = index + 1;
    }
  }
  return tried;
}

function Conditions({ block }: { block: StoryBlock }) {
  if (block.precondition.length + block.postcondition.length === 0) {
    return null;
  }
  return (
    <details>
      <summary>Conditions</summary>
      <p>Before: {block.precondition.join(" ") || "nothing"}</p>
      <p>After: {block.postcondition.join(" ") || "nothing"}</p>
    </details>
  );
}

/** How a language model made the plan, and every prompt and answer. */
export function Dialogue({ story }: { story: Story }) {
  if (story.asked.length === 0) {
    return null;
  }
  return (
    <details class="part">
      <summary>How the plan was made: {story.asked.length} prompts and answers</summary>
      <ol class="turns">
        {story.turns.map((turn, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a turn is its place
          <li key={place} class={turn.good === null ? "" : turn.good ? "good" : "bad"}>
            <strong>{turn.speaker}</strong> {turn.title}
            {turn.lines.filter(Boolean).map((line, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place
              <code key={index}>{line}</code>
            ))}
            {turn.problem && <p class="bad">{turn.problem}</p>}
          </li>
        ))}
      </ol>
      {story.asked.map((one, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a prompt is its place
        <details key={place}>
          <summary>
            {place + 1}. {one.purpose.replaceAll("_", " ")}
            {one.error && ": no answer"}
          </summary>
          <h3>asked</h3>
          <pre>{one.prompt}</pre>
          <h3>answered</h3>
          <pre>{one.answer || one.error}</pre>
        </details>
      ))}
    </details>
  );
}

export function Objects({ run, names }: { run: RunDocument; names: Map<string, string> }) {
  const last = run.after ?? run.before;
  if (last === null) {
    return null;
  }
  const before = new Map((run.before?.objects ?? []).map((one) => [one.name, one]));
  const changed = last.objects.filter((one) => {
    const old = before.get(one.name);
    return !old || old.place !== one.place || old.state.join() !== one.state.join();
  });
  const called = (name: string | null) => (name === null ? "" : (names.get(name) ?? name));
  return (
    <details class="part">
      <summary>
        {run.after ? `What changed: ${changed.length} of ${last.objects.length} objects` : "Objects"}
      </summary>
      <section class="scroll" tabIndex={0} aria-label="Objects">
        <table>
          <thead>
            <tr>
              <th scope="col">object</th>
              <th scope="col">before</th>
              <th scope="col">after</th>
            </tr>
          </thead>
          <tbody>
            {(run.after ? changed : last.objects).map((one) => {
              const old = before.get(one.name);
              return (
                <tr key={one.name}>
                  <th scope="row">
                    {called(one.name)} <span class="faint">{one.name}</span>
                  </th>
                  <td>{old ? [called(old.place), ...old.state].filter(Boolean).join(", ") : "absent"}</td>
                  <td>{run.after ? [called(one.place), ...one.state].filter(Boolean).join(", ") : ""}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </section>
    </details>
  );
}

export function About({ story }: { story: Story }) {
  return (
    <details class="part">
      <summary>Conditions of the run</summary>
      <dl>
        {story.facts.map(([title, text], place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: titles occur more than once
          <div key={place}>
            <dt>{title}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

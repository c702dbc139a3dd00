/** Two plans for one problem, side by side. */

import { useMemo } from "preact/hooks";
import { type Contents, readText, trace } from "../api";
import { align, spoken, stepsOf } from "../model/trace";
import { type Route, replaceValue } from "../router";
import { Empty, Problem, useLoaded, Waiting } from "../ui";

interface Choice {
  domain: string;
  problem: string;
  plan: string;
}

export function Compare({ contents, route }: { contents: Contents; route: Route }) {
  const choices = useMemo(
    () =>
      contents.models.flatMap((model) =>
        model.problems.flatMap((problem) =>
          problem.plans.map((plan) => ({ domain: model.domain, problem: problem.file, plan })),
        ),
      ),
    [contents],
  );
  const left = choices.find((one) => one.plan === route.values.get("left")) ?? choices[0];
  const right =
    choices.find((one) => one.plan === route.values.get("right")) ??
    choices.find((one) => one !== left && one.problem === left?.problem) ??
    choices[1];
  if (!left || !right) {
    return (
      <Empty title="Two plans are needed">
        <p>Put two plans for one problem into the folder, such as problem.plan and problem-2.plan.</p>
      </Empty>
    );
  }
  return (
    <div class="page">
      <h1 class="small">Two plans side by side</h1>
      <div class="row">
        <Chooser
          label="Left plan"
          choices={choices}
          chosen={left}
          onChoose={(plan) => replaceValue(route, "left", plan)}
        />
        <Chooser
          label="Right plan"
          choices={choices}
          chosen={right}
          onChoose={(plan) => replaceValue(route, "right", plan)}
        />
      </div>
      <Table left={left} right={right} />
    </div>
  );
}

interface ChooserProps {
  label: string;
  choices: Choice[];
  chosen: Choice;
  onChoose: (plan: string) => void;
}

function Chooser({ label, choices, chosen, onChoose }: ChooserProps) {
  return (
    <label class="chooser">
      {label}
      <select value={chosen.plan} onChange={(event) => onChoose(event.currentTarget.value)}>
        {choices.map((one) => (
          <option key={one.plan} value={one.plan}>
            {one.plan}
          </option>
        ))}
      </select>
    </label>
  );
}

async function judged(choice: Choice) {
  const [domain, problem, plan] = await Promise.all([
    readText(choice.domain),
    readText(choice.problem),
    readText(choice.plan),
  ]);
  const found = await trace({ domain, problem, plan });
  return { steps: stepsOf(plan), report: found.report };
}

function Table({ left, right }: { left: Choice; right: Choice }) {
  const found = useLoaded(`${left.plan} ${right.plan}`, () => Promise.all([judged(left), judged(right)]));
  if (found.error) {
    return <Problem text={found.error} />;
  }
  if (!found.data) {
    return <Waiting what="Checking both plans" />;
  }
  const [one, two] = found.data;
  const pairs = align(one.steps, two.steps);
  const shared = pairs.filter((pair) => pair.left !== null && pair.right !== null).length;
  return (
    <>
      <p>
        {shared} steps are in both plans; {one.steps.length - shared} only left, {two.steps.length - shared}{" "}
        only right.
      </p>
      <section class="scroll" tabIndex={0} aria-label="The steps of both plans">
        <table class="pairs">
          <thead>
            <tr>
              {[one, two].map((side, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: left and right
                <th key={index} scope="col">
                  {side.steps.length} steps{" "}
                  <span class={`tag ${side.report.outcome === "valid" ? "good" : "bad"}`}>
                    {side.report.outcome}
                  </span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {pairs.map((pair, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other name
              <tr key={index} class={pair.left && pair.right ? "" : "differs"}>
                <td>{pair.left && spoken(pair.left)}</td>
                <td>{pair.right && spoken(pair.right)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

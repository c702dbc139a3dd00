/** Two plans or runs side by side, aligned by the steps that they share. */

import { useMemo } from "preact/hooks";
import type { Report } from "../api";
import { actionsOf, runMeasures } from "../model/compare";
import { people, told } from "../model/room";
import type { RunDocument } from "../model/story";
import { align } from "../model/trace";
import { count } from "../ui";
import { Literal } from "./literal";

/** A plan or a run of a pair. */
export interface Half {
  title: string;
  verdict: string;
  good: boolean;
  /** The steps as they are compared. */
  steps: string[];
  measures: [name: string, value: string][];
}

export interface PairDocument {
  kind: "pair";
  left: Half;
  right: Half;
  /** Words for actions of robots; other steps are shown as they are. */
  words?: Record<string, string>;
}

export function planHalf(name: string, steps: string[], report: Report): Half {
  const cost = report.cost ? `, cost ${report.cost}` : "";
  return {
    title: `${name}: ${count(steps.length, "step")}${cost}`,
    verdict: report.outcome,
    good: report.outcome === "valid",
    steps,
    measures: [],
  };
}

export function pairOfRuns(one: RunDocument, two: RunDocument): PairDocument {
  const objects = [one, two].flatMap((run) => run.before?.objects ?? []);
  const names = people(new Map(objects.map((thing) => [thing.name, thing])).values());
  const [left, right] = [one, two].map((run) => ({
    title: `${run.name}: ${count(run.story.steps.length, "step")}`,
    verdict:
      run.story.reached === null ? run.story.state : run.story.reached ? "goal reached" : "goal not reached",
    good: run.story.reached === true,
    steps: actionsOf(run),
    measures: runMeasures(run),
  })) as [Half, Half];
  const steps = [...left.steps, ...right.steps];
  return {
    kind: "pair",
    left,
    right,
    words: Object.fromEntries(steps.map((step) => [step, told(step, names)])),
  };
}

export function PairView({ pair: { left, right, words } }: { pair: PairDocument }) {
  const pairs = useMemo(() => align(left.steps, right.steps), [left, right]);
  const shared = pairs.filter((pair) => pair.left !== null && pair.right !== null).length;
  const shown = (step: string) => (words ? (words[step] ?? step) : <Literal text={step} />);
  return (
    <>
      {left.measures.length > 0 && (
        <section class="scroll framed" tabIndex={0} aria-label="Both in numbers">
          <table class="figures">
            <thead>
              <tr>
                <th scope="col">Measure</th>
                <th scope="col">Left</th>
                <th scope="col">Right</th>
              </tr>
            </thead>
            <tbody>
              {left.measures.map(([name, value], index) => (
                <tr key={name} class={value === right.measures[index]?.[1] ? "" : "differs"}>
                  <th scope="row">{name}</th>
                  <td>{value}</td>
                  <td>{right.measures[index]?.[1]}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      <p>
        {count(shared, "step")} in both; {left.steps.length - shared} only left, {right.steps.length - shared}{" "}
        only right.
      </p>
      <section class="scroll framed" tabIndex={0} aria-label="The steps of both">
        <table class="pairs">
          <thead>
            <tr>
              {[left, right].map((half, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: left and right
                <th key={index} scope="col">
                  {half.title} <span class={`tag ${half.good ? "good" : "bad"}`}>{half.verdict}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {pairs.map((pair, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other name
              <tr key={index} class={pair.left !== null && pair.right !== null ? "" : "differs"}>
                <td>{pair.left !== null && shown(pair.left)}</td>
                <td>{pair.right !== null && shown(pair.right)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

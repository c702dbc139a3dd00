/** Plans, runs and benches side by side. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { type BenchDocument, type Contents, readBench, readRun, readText, trace } from "../api";
import { actionsOf, runMeasures } from "../model/compare";
import { people, told } from "../model/room";
import { align, stepsOf } from "../model/trace";
import { type Route, replaceValue } from "../router";
import { count, Empty, Problem, Tabs, useLoaded, Waiting } from "../ui";
import { Board } from "./board";
import { Literal } from "./literal";
import { Report } from "./report";

const WHATS = [
  { id: "plans", name: "Plans" },
  { id: "runs", name: "Runs" },
  { id: "benches", name: "Benches" },
] as const;

type What = (typeof WHATS)[number]["id"];

export function Compare({ contents, route }: { contents: Contents; route: Route }) {
  const named = WHATS.find((one) => one.id === route.values.get("what"))?.id;
  const what: What = named ?? "plans";
  return (
    <div class="wide compare">
      <div class="row">
        <h1 class="small">Compare</h1>
        <Tabs label="Compare" tabs={WHATS} chosen={what} onChoose={(id) => replaceValue(route, "what", id)} />
      </div>
      {what === "plans" ? (
        <Plans contents={contents} route={route} />
      ) : what === "runs" ? (
        <Runs contents={contents} route={route} />
      ) : (
        <Benches contents={contents} route={route} />
      )}
    </div>
  );
}

interface ChooserProps {
  label: string;
  choices: { id: string; name: string }[];
  chosen: string;
  onChoose: (id: string) => void;
}

function Chooser({ label, choices, chosen, onChoose }: ChooserProps) {
  return (
    <label class="chooser">
      {label}
      <select value={chosen} onChange={(event) => onChoose(event.currentTarget.value)}>
        {choices.map((one) => (
          <option key={one.id} value={one.id}>
            {one.name.slice(0, 120)}
          </option>
        ))}
      </select>
    </label>
  );
}

interface Choice {
  domain: string;
  problem: string;
  plan: string;
}

function Plans({ contents, route }: { contents: Contents; route: Route }) {
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
  const names = choices.map((one) => ({ id: one.plan, name: one.plan }));
  return (
    <>
      <div class="row">
        <Chooser
          label="Left plan"
          choices={names}
          chosen={left.plan}
          onChoose={(plan) => replaceValue(route, "left", plan)}
        />
        <Chooser
          label="Right plan"
          choices={names}
          chosen={right.plan}
          onChoose={(plan) => replaceValue(route, "right", plan)}
        />
      </div>
      <PlanPairs left={left} right={right} />
    </>
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

function PlanPairs({ left, right }: { left: Choice; right: Choice }) {
  const found = useLoaded(`${left.plan} ${right.plan}`, () => Promise.all([judged(left), judged(right)]));
  if (found.error) {
    return <Problem text={found.error} />;
  }
  if (!found.data || found.loading) {
    return <Waiting what="Checking both plans" />;
  }
  const [one, two] = found.data;
  const heads = [one, two].map(({ steps, report }) => ({
    title: count(steps.length, "step") + (report.cost ? `, cost ${report.cost}` : ""),
    verdict: report.outcome,
    good: report.outcome === "valid",
  }));
  return <Pairs left={one.steps} right={two.steps} heads={heads} shown={(step) => <Literal text={step} />} />;
}

function Runs({ contents, route }: { contents: Contents; route: Route }) {
  const { runs } = contents;
  const left = runs.find((one) => one.name === route.values.get("left")) ?? runs[0];
  const right =
    runs.find((one) => one.name === route.values.get("right")) ??
    runs.find((one) => one !== left && one.request === left?.request) ??
    runs[1];
  if (!left || !right) {
    return (
      <Empty title="Two runs are needed">
        <p>
          Run a request twice, for example with and without a fault, and compare what the robot did:{" "}
          <code>hvr plan "make coffee" --faults slip:0.2</code>
        </p>
      </Empty>
    );
  }
  const names = runs.map((one) => ({ id: one.name, name: `${one.name}: ${one.request ?? ""}` }));
  return (
    <>
      <div class="row">
        <Chooser
          label="Left run"
          choices={names}
          chosen={left.name}
          onChoose={(name) => replaceValue(route, "left", name)}
        />
        <Chooser
          label="Right run"
          choices={names}
          chosen={right.name}
          onChoose={(name) => replaceValue(route, "right", name)}
        />
      </div>
      <RunPairs left={left.name} right={right.name} />
    </>
  );
}

function RunPairs({ left, right }: { left: string; right: string }) {
  const found = useLoaded(`${left} ${right}`, () => Promise.all([readRun(left), readRun(right)]));
  if (found.error) {
    return <Problem text={found.error} />;
  }
  if (!found.data || found.loading) {
    return <Waiting what="Reading both runs" />;
  }
  const [one, two] = found.data;
  const objects = [one, two].flatMap((run) => run.before?.objects ?? []);
  const names = people(new Map(objects.map((thing) => [thing.name, thing])).values());
  const [first, second] = [runMeasures(one), runMeasures(two)];
  return (
    <>
      <section class="scroll framed" tabIndex={0} aria-label="Both runs in numbers">
        <table class="figures">
          <thead>
            <tr>
              <th scope="col">Measure</th>
              <th scope="col">Left</th>
              <th scope="col">Right</th>
            </tr>
          </thead>
          <tbody>
            {first.map(([name, value], index) => (
              <tr key={name} class={value === second[index]?.[1] ? "" : "differs"}>
                <th scope="row">{name}</th>
                <td>{value}</td>
                <td>{second[index]?.[1]}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <Pairs
        left={actionsOf(one)}
        right={actionsOf(two)}
        heads={[one, two].map((run) => ({
          title: count(run.story.steps.length, "step"),
          verdict:
            run.story.reached === null
              ? run.story.state
              : run.story.reached
                ? "goal reached"
                : "goal not reached",
          good: run.story.reached === true,
        }))}
        shown={(step) => told(step, names)}
      />
    </>
  );
}

interface PairsProps {
  left: string[];
  right: string[];
  heads: { title: string; verdict: string; good: boolean }[];
  shown: (step: string) => preact.ComponentChildren;
}

function Pairs({ left, right, heads, shown }: PairsProps) {
  const pairs = useMemo(() => align(left, right), [left, right]);
  const shared = pairs.filter((pair) => pair.left !== null && pair.right !== null).length;
  return (
    <>
      <p>
        {count(shared, "step")} in both; {left.length - shared} only left, {right.length - shared} only right.
      </p>
      <section class="scroll framed" tabIndex={0} aria-label="The steps of both">
        <table class="pairs">
          <thead>
            <tr>
              {heads.map((head, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: left and right
                <th key={index} scope="col">
                  {head.title} <span class={`tag ${head.good ? "good" : "bad"}`}>{head.verdict}</span>
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

function Benches({ contents, route }: { contents: Contents; route: Route }) {
  const { benches } = contents;
  const bench = benches.find((one) => one === route.values.get("bench")) ?? benches[0];
  const earlier = benches.find((one) => one === route.values.get("earlier") && one !== bench) ?? "";
  const found = useBench(bench ?? "", earlier);
  if (!bench) {
    return (
      <Empty title="No bench here">
        <p>
          A bench plans many tasks and measures the plans. Save one into this folder, and its tables and
          charts appear here:
        </p>
        <pre>hvr bench --tasks T1,T2 --models simulated --save bench</pre>
      </Empty>
    );
  }
  const names = benches.map((one) => ({ id: one, name: one }));
  return (
    <>
      <div class="row">
        <Chooser
          label="Bench"
          choices={names}
          chosen={bench}
          onChoose={(name) => replaceValue(route, "bench", name)}
        />
        <Chooser
          label="Changes since"
          choices={[{ id: "", name: "no other bench" }, ...names.filter((one) => one.id !== bench)]}
          chosen={earlier}
          onChoose={(name) => replaceValue(route, "earlier", name)}
        />
      </div>
      {found.error ? (
        <Problem text={found.error} />
      ) : !found.data ? (
        <Waiting what="Reading the bench" />
      ) : (
        <>
          <Board board={found.data.board} />
          <Report report={found.data} />
        </>
      )}
    </>
  );
}

/** A bench that is read again until it ends. */
function useBench(bench: string, earlier: string) {
  const [found, setFound] = useState<{ key: string; data: BenchDocument | null; error: string } | null>(null);
  const key = `${bench} ${earlier}`;
  useEffect(() => {
    let timer = 0;
    let ended = false;
    const read = async () => {
      try {
        const data = await readBench(bench, earlier);
        if (!ended) {
          setFound({ key, data, error: "" });
          timer = data.board.running ? window.setTimeout(read, 1000) : 0;
        }
      } catch (problem) {
        if (!ended) {
          setFound({ key, data: null, error: (problem as Error).message });
        }
      }
    };
    if (bench) {
      read();
    }
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, [key, bench, earlier]);
  return found?.key === key ? found : { data: null, error: "" };
}

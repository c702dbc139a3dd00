/** Plans, runs and benches side by side. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { type BenchDocument, type Contents, readBench, readRun, readText, trace } from "../api";
import { stepsOf } from "../model/trace";
import { address, type Route, replaceValue } from "../router";
import { Empty, Problem, Tabs, useLoaded, Waiting } from "../ui";
import { Board } from "./board";
import { type Half, type PairDocument, PairView, pairOfRuns, planHalf } from "./pairs";
import { Report } from "./report";
import { SaveFile } from "./savefile";

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
      <Two
        what={{ left: left.plan, right: right.plan }}
        read={async () => ({ kind: "pair", left: await judged(left), right: await judged(right) })}
      />
    </>
  );
}

async function judged(choice: Choice): Promise<Half> {
  const [domain, problem, plan] = await Promise.all([
    readText(choice.domain),
    readText(choice.problem),
    readText(choice.plan),
  ]);
  const { report } = await trace({ domain, problem, plan });
  return planHalf(choice.plan, stepsOf(plan), report);
}

/** Two plans or runs, read and put side by side. */
function Two({ what, read }: { what: { left: string; right: string }; read: () => Promise<PairDocument> }) {
  const found = useLoaded(`${what.left} ${what.right}`, read);
  if (found.error) {
    return <Problem text={found.error} />;
  }
  if (!found.data || found.loading) {
    return <Waiting what="Reading both" />;
  }
  return (
    <>
      <SaveFile what="comparison" title={`${what.left} and ${what.right}`} document={found.data} />
      <PairView pair={found.data} />
    </>
  );
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
          Ask for the same thing twice in <a href={address("room")}>Room</a>, the second time with a fault
          from “Make it harder”, and compare what the robot did.
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
      <Two
        what={{ left: left.name, right: right.name }}
        read={async () => pairOfRuns(await readRun(left.name), await readRun(right.name))}
      />
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
          <SaveFile what="bench" title={bench} document={found.data} />
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

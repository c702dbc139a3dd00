/** A model at work: its texts, the states of its plan, and the plan as a picture. */

import { useCallback, useEffect, useState } from "preact/hooks";
import { type Contents, findPlan, readDrawing, readText, repair, saveText, type Texts, trace } from "../api";
import { Editor } from "../editor";
import { EXAMPLES } from "../examples";
import type { DrawingRules } from "../model/drawing";
import { align, linesOfSteps, stepsOf } from "../model/trace";
import { type Route, replaceValue } from "../router";
import { Empty, Problem, Tabs, useLoaded, Waiting } from "../ui";
import { Literal } from "./literal";
import { PlanSide, sidesOf } from "./planside";
import { SaveFile } from "./savefile";

type Part = keyof Texts;
const PARTS: readonly { id: Part; name: string }[] = [
  { id: "domain", name: "Domain" },
  { id: "problem", name: "Problem" },
  { id: "plan", name: "Plan" },
];
/** Return the names of the texts' files, as the language server should know them. */
function filesOf(route: Route): Texts {
  const example = route.values.get("example");
  if (example !== null) {
    const folder = `studio-example-${example}`;
    return {
      domain: `${folder}/domain.pddl`,
      problem: `${folder}/problem.pddl`,
      plan: `${folder}/problem.plan`,
    };
  }
  const problem = route.values.get("problem") ?? "";
  const plan = route.values.get("plan") || problem.replace(/\.\w+$/, ".plan");
  return { domain: route.values.get("domain") ?? "", problem, plan };
}

async function textsOf(route: Route): Promise<Texts> {
  const example = EXAMPLES.find((one) => one.id === route.values.get("example"));
  if (example) {
    return example.texts;
  }
  const files = filesOf(route);
  const [domain, problem, plan] = await Promise.all([
    readText(files.domain),
    readText(files.problem),
    route.values.get("plan") ? readText(files.plan) : "",
  ]);
  return { domain, problem, plan };
}

export function Workbench({ contents, route }: { contents: Contents; route: Route }) {
  const files = filesOf(route);
  const key = `${files.domain} ${files.problem} ${files.plan}`;
  const loaded = useLoaded(key, () => textsOf(route));
  if (!files.domain) {
    return <Empty title="No model is chosen">Choose one in the gallery.</Empty>;
  }
  if (loaded.error) {
    return <Problem text={loaded.error} />;
  }
  if (!loaded.data || loaded.loading) {
    return <Waiting what="Opening the model" />;
  }
  return <Bench key={key} root={contents.root} files={files} first={loaded.data} route={route} />;
}

interface BenchProps {
  root: string;
  files: Texts;
  first: Texts;
  route: Route;
}

function Bench({ root, files, first, route }: BenchProps) {
  const [texts, setTexts] = useState(first);
  const [saved, setSaved] = useState(first);
  const [part, setPart] = useState<Part>("plan");
  const [note, setNote] = useState("");
  const [busy, setBusy] = useState("");
  const [proposal, setProposal] = useState<string[] | null>(null);
  const step = Number(route.values.get("step") ?? "0");
  const found = useLoaded(JSON.stringify(texts), (signal) => trace(texts, signal), 250);
  const example = route.values.has("example");
  const drawing = useLoaded(`drawing ${files.domain}`, () => drawingOf(route, files));
  const sides = sidesOf(found.data, drawing.data !== null || drawing.error !== "");
  const side = sides.find((one) => one.id === route.values.get("side"))?.id ?? "steps";

  const change = (which: Part, text: string) => setTexts((old) => ({ ...old, [which]: text }));
  const choose = useCallback((number: number) => replaceValue(route, "step", String(number)), [route]);

  const work = async (what: string, run: () => Promise<string>) => {
    setBusy(what);
    setNote("");
    try {
      setNote(await run());
    } catch (error) {
      setNote((error as Error).message);
    }
    setBusy("");
  };

  const mend = () =>
    work("Repairing", async () => {
      const answer = await repair(texts);
      if (answer.plan === null) {
        return answer.note || "No repair was found.";
      }
      setProposal(answer.plan);
      return "";
    });

  const apply = () => {
    change("plan", `${(proposal ?? []).join("\n")}\n`);
    setProposal(null);
    setNote("Repaired, and proven valid.");
  };

  const search = () =>
    work("Searching for a plan", async () => {
      const answer = await findPlan(texts);
      if (!answer.solved || answer.steps === null) {
        return answer.proven
          ? "It is proven that no plan exists."
          : "No plan was found within the time limit.";
      }
      change("plan", `${answer.steps.join("\n")}\n`);
      const best = answer.proven ? "; no plan is shorter or cheaper" : "";
      return `A valid plan of ${answer.steps.length} steps, by ${answer.planner}${best}.`;
    });

  const save = () =>
    work("Saving", async () => {
      for (const { id } of PARTS) {
        if (texts[id] !== saved[id]) {
          await saveText(files[id], texts[id]);
        }
      }
      setSaved(texts);
      return "Saved.";
    });

  const changed = PARTS.some(({ id }) => texts[id] !== saved[id]);
  useEffect(() => {
    const keys = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key === "s") {
        event.preventDefault();
        if (!example && changed) {
          save();
        }
      }
    };
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  });

  const hierarchical = (found.data?.decomposition.length ?? 0) > 0 || files.domain.endsWith(".hddl");
  const outcome = found.data?.report.outcome ?? "";
  // A plan with times has several changes for each step.
  const number = step > 0 ? (found.data?.steps[step - 1]?.step ?? 0) : 0;
  const planLine = number > 0 ? (linesOfSteps(texts.plan)[number - 1] ?? null) : null;
  return (
    <div class="bench">
      <section class="texts" aria-label="Texts">
        <div class="row">
          <Tabs label="Texts" tabs={PARTS} chosen={part} onChoose={setPart} />
          {!example && (
            <button type="button" onClick={save} disabled={!changed || busy !== ""}>
              Save
            </button>
          )}
        </div>
        {PARTS.map(({ id, name }) => (
          <div key={id} class="pane" hidden={part !== id}>
            <Editor
              root={root}
              file={files[id]}
              text={texts[id]}
              label={name}
              line={id === "plan" ? planLine : null}
              onChange={(text) => change(id, text)}
            />
          </div>
        ))}
      </section>
      <section class="views" aria-label="The plan">
        <div class="row">
          <Tabs
            label="The plan as"
            tabs={sides}
            chosen={side}
            onChoose={(id) => replaceValue(route, "side", id)}
          />
          <span
            class={`tag ${outcome === "valid" ? "good" : outcome === "invalid" ? "bad" : ""}`}
            role="status"
          >
            {found.loading ? "checking…" : outcome || "cannot be checked"}
          </span>
          {!hierarchical && (
            <>
              <button type="button" onClick={mend} disabled={busy !== "" || outcome !== "invalid"}>
                Repair
              </button>
              <button type="button" class="main" onClick={search} disabled={busy !== ""}>
                Find a plan
              </button>
            </>
          )}
        </div>
        <p class="note" role="status">
          {busy ? `${busy}…` : note}
        </p>
        {proposal && (
          <Proposal
            before={stepsOf(texts.plan)}
            after={proposal}
            onApply={apply}
            onDiscard={() => setProposal(null)}
          />
        )}
        {found.data && (
          <SaveFile
            what="plan"
            title={files.plan}
            document={{
              kind: "plan",
              name: files.plan,
              side,
              texts,
              trace: found.data,
              drawing: drawing.data,
            }}
          />
        )}
        {found.error ? (
          <Problem text={found.error} />
        ) : found.data === null ? (
          <Waiting what="Checking the plan" />
        ) : (
          <PlanSide
            trace={found.data}
            side={side}
            rules={drawing.data}
            error={drawing.error}
            chosen={step}
            onChoose={choose}
            remedy={
              !hierarchical &&
              proposal === null && (
                <button type="button" onClick={mend} disabled={busy !== ""}>
                  Look for a repair
                </button>
              )
            }
          />
        )}
      </section>
    </div>
  );
}

async function drawingOf(route: Route, files: Texts): Promise<DrawingRules | null> {
  const example = EXAMPLES.find((one) => one.id === route.values.get("example"));
  return example ? (example.drawing ?? null) : readDrawing(files.domain);
}

interface ProposalProps {
  before: string[];
  after: string[];
  onApply: () => void;
  onDiscard: () => void;
}

/** A repaired plan beside the present one, before it is applied. */
function Proposal({ before, after, onApply, onDiscard }: ProposalProps) {
  const pairs = align(before, after.flatMap(stepsOf));
  return (
    <section class="proposal" aria-label="A repair">
      <p>This plan is proven valid. Added steps are marked +, removed steps −.</p>
      <ol class="facts changes">
        {pairs.map((pair, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other name
          <li key={index} class={pair.left === null ? "new" : pair.right === null ? "gone" : ""}>
            {pair.left === null ? "+ " : pair.right === null ? "− " : ""}
            <Literal text={pair.right ?? pair.left ?? ""} />
          </li>
        ))}
      </ol>
      <div class="row">
        <button type="button" class="main" onClick={onApply}>
          Apply the repair
        </button>
        <button type="button" onClick={onDiscard}>
          Keep my plan
        </button>
      </div>
    </section>
  );
}

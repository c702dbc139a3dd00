/** What there is to open: models, runs, and three examples. */

import type { Contents, RunEntry } from "../api";
import { EXAMPLES } from "../examples";
import { address } from "../router";
import { Empty } from "../ui";

function name(file: string): string {
  return file.split("/").pop() ?? file;
}

function verdict(run: RunEntry): { text: string; kind: string } {
  if (run.state !== "finished") {
    return { text: run.state === "running" ? "running" : "not finished", kind: "" };
  }
  return run.reached ? { text: "goal reached", kind: "good" } : { text: "goal not reached", kind: "bad" };
}

/** Return the name of a model: its folder, or its file if it lies at the top. */
function modelName(domain: string): string {
  const parts = domain.split("/");
  return parts.length > 1 ? parts.slice(0, -1).join(" / ") : domain.replace(/\.\w+$/, "");
}

export function Gallery({ contents }: { contents: Contents }) {
  // The problems inside a run belong to it.
  const models = contents.models.filter((model) => !model.domain.startsWith("runs/"));
  return (
    <div class="page">
      <section aria-labelledby="examples">
        <h2 id="examples">Start with an example</h2>
        <div class="cards">
          {EXAMPLES.map((one) => (
            <a key={one.id} class="card" href={address("model", { example: one.id })}>
              <strong>{one.name}</strong>
              <span>{one.about}</span>
            </a>
          ))}
        </div>
      </section>
      <section aria-labelledby="models">
        <h2 id="models">Models in this folder</h2>
        {models.length === 0 ? (
          <Empty title="No domain here">
            <p>
              Put a PDDL domain, problems and plans into <code>{contents.root}</code>, and they appear here.
            </p>
          </Empty>
        ) : (
          <ul class="list">
            {models.map((model) => (
              <li key={model.domain}>
                <strong>{modelName(model.domain)}</strong> <span class="path">{name(model.domain)}</span>
                <ul>
                  {model.problems.flatMap((problem) => {
                    const plans = problem.plans.length > 0 ? problem.plans : [""];
                    return plans.map((plan) => (
                      <li key={`${problem.file} ${plan}`}>
                        <a href={address("model", { domain: model.domain, problem: problem.file, plan })}>
                          {name(problem.file)}
                          {plan && <span class="faint"> with {name(plan)}</span>}
                        </a>
                      </li>
                    ));
                  })}
                </ul>
              </li>
            ))}
          </ul>
        )}
      </section>
      <section aria-labelledby="runs">
        <h2 id="runs">Runs</h2>
        {contents.runs.length === 0 ? (
          <Empty title="No run yet">
            <p>
              <a href={address("room")}>Ask a robot for something</a>, or run{" "}
              <code>hvr plan "make coffee"</code> in this folder.
            </p>
          </Empty>
        ) : (
          <ul class="rows">
            {contents.runs.map((run) => {
              const found = verdict(run);
              return (
                <li key={run.name}>
                  <a href={address(run.decision === null ? "room" : "tools", { run: run.name })}>
                    <span class="what">{run.request ?? run.name}</span>
                    <span class="faint">{run.scene}</span>
                    <span class={`tag ${found.kind}`}>{found.text}</span>
                  </a>
                </li>
              );
            })}
          </ul>
        )}
      </section>
    </div>
  );
}

/** The graph of tools with their success rates, and the decisions of a run with their reasons. */

import { useMemo } from "preact/hooks";
import { type Contents, type RunLog, readGraph, readLog } from "../api";
import {
  absence,
  callCount,
  type Decision,
  decisions,
  type GraphTool,
  inWords,
  type PlacedTool,
  parameterWords,
  placeTools,
  rateClass,
  rateWords,
  type ToolGraph,
  toolLinks,
} from "../model/tools";
import { address, type Route, replaceValue } from "../router";
import { chooses, count, Empty, Problem, Tabs, useLoaded, Waiting } from "../ui";

const MOST = 150;
const BOX = { width: 196, height: 52, across: 240, down: 68 };
const SIDES = [
  { id: "graph", name: "Graph" },
  { id: "table", name: "Table" },
] as const;

export function Tools({ contents, route }: { contents: Contents; route: Route }) {
  const runs = contents.runs.filter((run) => run.decision !== null);
  const own = new Set(runs.map((run) => `runs/${run.name}/graph.jsonl`));
  const graphs = contents.graphs.filter((file) => !own.has(file));
  const named = route.values.get("run") ?? (route.values.has("graph") ? undefined : runs[0]?.name);
  const run = runs.find((one) => one.name === named)?.name;
  const wanted = run ? `runs/${run}/graph.jsonl` : route.values.get("graph");
  const file = contents.graphs.find((one) => one === wanted) ?? (run ? "" : (contents.graphs[0] ?? ""));
  const chosenRun = run ?? runs.find((one) => file === `runs/${one.name}/graph.jsonl`)?.name ?? "";
  if (contents.graphs.length + runs.length === 0) {
    return (
      <div class="page">
        <h1 class="small">Tools</h1>
        <Empty title="No tools have been called here">
          <p>Run tools in this folder, and their graph and every decision appear here:</p>
          <pre>hvr tools run parcels pick-up --yes --save runs/pick-up</pre>
          <p>A graph learnt from your own log of calls appears here as well:</p>
          <pre>hvr tools graph tools.json --log calls.jsonl --events graph.jsonl</pre>
        </Empty>
      </div>
    );
  }
  const go = (value: string) => {
    location.hash = value.startsWith("run:")
      ? address("tools", { run: value.slice(4) })
      : address("tools", { graph: value });
  };
  return (
    <div class="wide">
      <div class="row heading">
        <h1 class="small">Tools</h1>
        <label class="chooser beside">
          <span>Calls of</span>
          <select
            value={chosenRun ? `run:${chosenRun}` : file}
            onChange={(event) => go(event.currentTarget.value)}
          >
            {runs.length > 0 && (
              <optgroup label="Runs">
                {runs.map((one) => (
                  <option key={one.name} value={`run:${one.name}`}>
                    {(one.request ?? one.name).slice(0, 90)}
                  </option>
                ))}
              </optgroup>
            )}
            {graphs.length > 0 && (
              <optgroup label="Graphs">
                {graphs.map((one) => (
                  <option key={one} value={one}>
                    {one}
                  </option>
                ))}
              </optgroup>
            )}
          </select>
        </label>
      </div>
      <Content key={`${file} ${chosenRun}`} file={file} run={chosenRun} route={route} />
    </div>
  );
}

interface Loaded {
  graph: ToolGraph | null;
  run: RunLog | null;
}

function Content({ file, run, route }: { file: string; run: string; route: Route }) {
  const loaded = useLoaded<Loaded>(`${file} ${run}`, async () => ({
    graph: file ? await readGraph(file) : null,
    run: run ? await readLog(run) : null,
  }));
  if (loaded.error) {
    return <Problem text={loaded.error} />;
  }
  if (!loaded.data) {
    return <Waiting what="Reading the calls" />;
  }
  const { graph, run: data } = loaded.data;
  const tool = route.values.get("tool") ?? "";
  const choose = (name: string) => replaceValue(route, "tool", name === tool ? "" : name);
  return (
    <div class={data ? "split tools" : "tools"}>
      {graph === null ? (
        <Empty title="No graph was saved">Only the decisions of this run were saved.</Empty>
      ) : (
        <Graph graph={graph} tool={tool} route={route} onChoose={choose} />
      )}
      {data && <Decisions run={data} tool={tool} onChoose={choose} />}
    </div>
  );
}

interface GraphProps {
  graph: ToolGraph;
  tool: string;
  route: Route;
  onChoose: (name: string) => void;
}

function Graph({ graph, tool, route, onChoose }: GraphProps) {
  const side = route.values.get("side") === "table" ? "table" : "graph";
  const calls = graph.tools.reduce((sum, one) => sum + callCount(one), 0);
  const failed = graph.tools.reduce((sum, one) => sum + one.failures, 0);
  const chosen = graph.tools.find((one) => one.name === tool);
  return (
    <section class="toolgraph" aria-label="The tools">
      <div class="row">
        <p class="faint">
          {count(graph.tools.length, "tool")} · {count(calls, "call")} · {failed} failed
        </p>
        <Tabs
          label="The tools as"
          tabs={SIDES}
          chosen={side}
          onChoose={(id) => replaceValue(route, "side", id)}
        />
      </div>
      {graph.tools.length === 0 ? (
        <Empty title="No tool in this graph">Its log is still empty.</Empty>
      ) : side === "table" ? (
        <ToolTable graph={graph} tool={tool} onChoose={onChoose} />
      ) : (
        <Drawing graph={graph} tool={tool} onChoose={onChoose} />
      )}
      {chosen && <Details graph={graph} tool={chosen} onChoose={onChoose} />}
    </section>
  );
}

type Chosen = Omit<GraphProps, "route">;

function Drawing({ graph, tool, onChoose }: Chosen) {
  const placed = useMemo(() => placeTools(graph, MOST), [graph]);
  const links = useMemo(() => toolLinks(graph), [graph]);
  const at = new Map(placed.map((one) => [one.tool.name, one]));
  const width = (Math.max(...placed.map((one) => one.column)) + 1) * BOX.across;
  const height = (Math.max(...placed.map((one) => one.row)) + 1) * BOX.down;
  const near = (source: string, target: string) => tool === "" || source === tool || target === tool;
  return (
    <figure class="picture">
      <section class="scroll framed" tabIndex={0} aria-label="The graph of tools">
        <svg width={width} height={height}>
          <title>{`${count(placed.length, "tool")} and their links`}</title>
          {links.possible.map(([source, target]) => {
            const path = arc(at.get(source), at.get(target));
            return (
              path && (
                <path
                  key={`${source} ${target}`}
                  class={`toollink possible ${near(source, target) ? "" : "dim"}`}
                  d={path}
                />
              )
            );
          })}
          {links.seen.map((link) => {
            const path = arc(at.get(link.source), at.get(link.target));
            return (
              path && (
                <path
                  key={`${link.source} ${link.target}`}
                  class={`toollink ${rateClass(link)} ${near(link.source, link.target) ? "" : "dim"}`}
                  style={{ strokeWidth: Math.min(1 + Math.log2(1 + callCount(link)), 6) }}
                  d={path}
                >
                  <title>{`${inWords(link.target)} after ${inWords(link.source)}: ${rateWords(link)}`}</title>
                </path>
              )
            );
          })}
          {placed.map((one) => (
            <ToolBox
              key={one.tool.name}
              place={one}
              graph={graph}
              chosen={one.tool.name === tool}
              onChoose={() => onChoose(one.tool.name)}
            />
          ))}
        </svg>
      </section>
      <figcaption>
        <span class="key good">works</span>
        <span class="key middling">fails sometimes</span>
        <span class="key bad">fails more often than not</span>
        <span class="key possible">fits by its schema, never taken</span>
        {graph.tools.length > MOST && ` The ${MOST} tools with the most calls are drawn.`}
      </figcaption>
    </figure>
  );
}

function arc(from?: PlacedTool, to?: PlacedTool): string {
  if (!from || !to) {
    return "";
  }
  const [y1, y2] = [from.row, to.row].map((row) => row * BOX.down + BOX.height / 2 + 4) as [number, number];
  const x1 = from.column * BOX.across + BOX.width;
  const x2 = to.column * BOX.across;
  if (x2 > x1) {
    const middle = (x1 + x2) / 2;
    return `M${x1},${y1} C${middle},${y1} ${middle},${y2} ${x2},${y2}`;
  }
  // Back, or within a column: around the right side.
  const bend = Math.max(x1, to.column * BOX.across + BOX.width) + 44;
  return `M${x1},${y1} C${bend},${y1} ${bend},${y2} ${to.column * BOX.across + BOX.width},${y2}`;
}

interface BoxProps {
  place: PlacedTool;
  graph: ToolGraph;
  chosen: boolean;
  onChoose: () => void;
}

function ToolBox({ place, graph, chosen, onChoose }: BoxProps) {
  const { tool } = place;
  const all = callCount(tool);
  const out = absence(graph, tool.name);
  const words = inWords(tool.name);
  const inner = BOX.width - 20;
  return (
    <g
      transform={`translate(${place.column * BOX.across},${place.row * BOX.down + 4})`}
      class={`toolbox ${rateClass(tool)} ${chosen ? "chosen" : ""} ${out ? "absent" : ""}`}
      {...chooses(onChoose, chosen)}
    >
      <title>{`${words}: ${rateWords(tool)}${out ? `, ${out}` : ""}`}</title>
      <rect class="frame" width={BOX.width} height={BOX.height} rx="6" />
      <text x="10" y="20">
        {words.length > 27 ? `${words.slice(0, 26)}…` : words}
      </text>
      <rect class="track" x="10" y="40" width={inner} height="4" rx="2" />
      {all > 0 && (
        <rect class="share" x="10" y="40" width={(inner * tool.successes) / all} height="4" rx="2" />
      )}
      <text class="figures" x="10" y="34">
        {out || (all === 0 ? "never called" : `${tool.successes} of ${all}`)}
      </text>
    </g>
  );
}

function ToolTable({ graph, tool, onChoose }: Chosen) {
  const rows = [...graph.tools].sort((one, two) => callCount(two) - callCount(one));
  return (
    <section class="scroll framed" tabIndex={0} aria-label="The table of tools">
      <table class="figures">
        <thead>
          <tr>
            <th scope="col">Tool</th>
            <th scope="col" class="amount">
              Calls
            </th>
            <th scope="col" class="amount">
              Succeeded
            </th>
            <th scope="col">Last call</th>
            <th scope="col">State</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((one) => (
            <tr key={one.name} class={one.name === tool ? "chosen" : ""}>
              <th scope="row">
                <button type="button" class="link" onClick={() => onChoose(one.name)}>
                  {inWords(one.name)}
                </button>
              </th>
              <td class="amount">{callCount(one)}</td>
              <td class="amount">
                {callCount(one) > 0 ? `${Math.round((100 * one.successes) / callCount(one))} %` : "–"}
              </td>
              <td>{lastCall(one)}</td>
              <td>{absence(graph, one.name) || (callCount(one) > 0 ? "in use" : "untried")}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function lastCall(tool: GraphTool): string {
  const last = Math.max(tool.last_success ?? 0, tool.last_failure ?? 0);
  return last > 0 ? new Date(last * 1000).toISOString().slice(0, 16).replace("T", " ") : "never";
}

function Details({
  graph,
  tool,
  onChoose,
}: {
  graph: ToolGraph;
  tool: GraphTool;
  onChoose: Chosen["onChoose"];
}) {
  const before = graph.calls.filter((link) => link.target === tool.name);
  const after = graph.calls.filter((link) => link.source === tool.name);
  const optional = tool.takes.filter((one) => !tool.needs.includes(one));
  const out = absence(graph, tool.name);
  return (
    <section class="details" aria-label={`About ${inWords(tool.name)}`}>
      <div class="row">
        <h2>{inWords(tool.name)}</h2>
        <code>{tool.name}</code>
        {out && <span class="tag bad">{out}</span>}
      </div>
      <p>
        {rateWords(tool)}; the next one is expected to succeed with {Math.round(100 * tool.weight)} %.
      </p>
      <dl>
        <dt>Needs</dt>
        <dd>{listed(tool.needs)}</dd>
        {optional.length > 0 && (
          <>
            <dt>May be given</dt>
            <dd>{listed(optional)}</dd>
          </>
        )}
        <dt>Returns</dt>
        <dd>{listed(tool.gives)}</dd>
        {[
          { name: "Called after", links: before, end: "source" as const },
          { name: "Followed by", links: after, end: "target" as const },
        ].map(
          ({ name, links, end }) =>
            links.length > 0 && (
              <>
                <dt>{name}</dt>
                <dd>
                  {links.map((link) => (
                    <button key={link[end]} type="button" class="link" onClick={() => onChoose(link[end])}>
                      {inWords(link[end])} ({link.successes} of {callCount(link)})
                    </button>
                  ))}
                </dd>
              </>
            ),
        )}
      </dl>
    </section>
  );
}

function listed(names: string[]): string {
  return [...new Set(names.map(parameterWords))].join(", ") || "nothing";
}

interface DecisionsProps {
  run: RunLog;
  tool: string;
  onChoose: (name: string) => void;
}

function Decisions({ run, tool, onChoose }: DecisionsProps) {
  const all = useMemo(() => decisions(run), [run]);
  return (
    <section class="decisions" aria-label="Decisions and their reasons">
      <h2>{String(run.about.request ?? run.name)}</h2>
      {all.length === 0 && <Empty title="No decision yet">The run has not begun to call tools.</Empty>}
      <ol>
        {all.map((one, index) => (
          <li
            // biome-ignore lint/suspicious/noArrayIndexKey: a decision is its place
            key={index}
            class={`${one.kind} ${one.ok ? "" : "wrong"} ${one.tool !== "" && one.tool === tool ? "chosen" : ""}`}
          >
            <OneDecision one={one} onChoose={onChoose} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function OneDecision({ one, onChoose }: { one: Decision; onChoose: (name: string) => void }) {
  return (
    <>
      {one.tool ? (
        <button type="button" class="name" onClick={() => onChoose(one.tool)}>
          {one.title}
        </button>
      ) : (
        <strong>{one.title}</strong>
      )}
      {one.steps.length > 0 && <p>{one.steps.join(" → ")}</p>}
      {one.arguments.length > 0 && (
        <dl>
          {one.arguments.map((argument) => (
            <>
              <dt>{argument.name}</dt>
              <dd>
                <bdi>{argument.value}</bdi> <span class="faint">{argument.why}</span>
              </dd>
            </>
          ))}
        </dl>
      )}
      {one.why && <p class={one.ok ? "faint" : "bad"}>{one.why}</p>}
    </>
  );
}

/** Tool graphs and decisions of runs, as people read them. */

import type { RunLog, RunEvent } from "../api";

export interface Evidence {
  successes: number;
  failures: number;
  last_success: number | null;
  last_failure: number | null;
  weight: number;
}

export interface GraphTool extends Evidence {
  name: string;
  needs: string[];
  takes: string[];
  gives: string[];
}

export interface GraphLink extends Evidence {
  source: string;
  target: string;
}

export interface ToolGraph {
  tools: GraphTool[];
  inputs: GraphLink[];
  outputs: GraphLink[];
  calls: GraphLink[];
  passes: GraphLink[];
  absent: { name: string; trial: boolean; gone: boolean }[];
}

/** Return an identifier in words: `find_customerById` becomes `find customer by id`. */
export function inWords(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/[_\-.]+/g, " ")
    .trim()
    .toLowerCase();
}

/** Return a parameter in words; a place in a tool's result is written as a JSON list. */
export function parameterWords(name: string): string {
  if (name.startsWith("[")) {
    try {
      const path: unknown = JSON.parse(name);
      if (Array.isArray(path) && path.length > 1) {
        const parts = path.slice(1).filter((part) => part !== "[]");
        return inWords(parts.map(String).join(" "));
      }
    } catch {
      // It is only a name that begins like a list.
    }
  }
  return inWords(name);
}

export function callCount(one: Evidence): number {
  return one.successes + one.failures;
}

/** Return how often something worked: `25 of 31 calls succeeded`. */
export function rateWords(one: Evidence): string {
  const all = callCount(one);
  if (all === 0) {
    return "never called";
  }
  return `${one.successes} of ${all} ${all === 1 ? "call" : "calls"} succeeded`;
}

/** Return why a tool is not in use; empty if it is. */
export function absence(graph: ToolGraph, name: string): string {
  const found = graph.absent.find((one) => one.name === name);
  return found
    ? found.gone
      ? "no longer offered"
      : found.trial
        ? "on trial"
        : "removed: it failed often"
    : "";
}

export type Rate = "good" | "middling" | "bad" | "untried";

/** Return the class of a success rate, as shown by colour and by line style. */
export function rateClass(one: Evidence): Rate {
  const all = callCount(one);
  if (all === 0) {
    return "untried";
  }
  const share = one.successes / all;
  return share >= 0.9 ? "good" : share >= 0.5 ? "middling" : "bad";
}

export interface PlacedTool {
  tool: GraphTool;
  column: number;
  row: number;
}

/** Place tools in columns: a tool is to the right of those whose results it needs. */
export function placeTools(graph: ToolGraph, most: number, columnHeight = 12): PlacedTool[] {
  const shown = [...graph.tools]
    .sort((one, two) => callCount(two) - callCount(one) || one.name.localeCompare(two.name))
    .slice(0, most);
  const names = new Set(shown.map((tool) => tool.name));
  const givers = giversOf(graph, names);
  const depth = new Map<string, number>();
  for (let level = 0; level < 8; level++) {
    const ready = shown.filter(
      (tool) =>
        !depth.has(tool.name) &&
        tool.needs.every((need) => {
          const from = (givers.get(need) ?? []).filter((name) => name !== tool.name);
          return from.length === 0 || from.some((name) => depth.has(name));
        }),
    );
    for (const tool of ready) {
      depth.set(tool.name, level);
    }
  }
  const levels = new Map<number, GraphTool[]>();
  for (const tool of shown) {
    const level = depth.get(tool.name) ?? 0;
    levels.set(level, [...(levels.get(level) ?? []), tool]);
  }
  const placed: PlacedTool[] = [];
  let column = 0;
  for (const level of [...levels.keys()].sort((one, two) => one - two)) {
    const tools = levels.get(level) ?? [];
    tools.forEach((tool, index) => {
      placed.push({ tool, column: column + Math.floor(index / columnHeight), row: index % columnHeight });
    });
    column += Math.ceil(tools.length / columnHeight);
  }
  return placed;
}

/** Return the tools that give each parameter: by their schemas, and by values that were passed on. */
function giversOf(graph: ToolGraph, names: Set<string>): Map<string, string[]> {
  const givers = new Map<string, string[]>();
  const add = (parameter: string, tool: string) => {
    if (names.has(tool)) {
      givers.set(parameter, [...(givers.get(parameter) ?? []), tool]);
    }
  };
  for (const link of graph.outputs) {
    add(link.target, link.source);
    for (const pass of graph.passes) {
      if (pass.source === link.target && pass.target !== link.target) {
        add(pass.target, link.source);
      }
    }
  }
  return givers;
}

/** Return the links between tools: those that calls took, and those that only schemas allow. */
export function toolLinks(graph: ToolGraph): { seen: GraphLink[]; possible: [string, string][] } {
  const seen = new Set(graph.calls.map((link) => JSON.stringify([link.source, link.target])));
  const possible = new Map<string, [string, string]>();
  const givers = giversOf(graph, new Set(graph.tools.map((tool) => tool.name)));
  for (const tool of graph.tools) {
    for (const source of tool.needs.flatMap((need) => givers.get(need) ?? [])) {
      const key = JSON.stringify([source, tool.name]);
      if (source !== tool.name && !seen.has(key)) {
        possible.set(key, [source, tool.name]);
      }
    }
  }
  return { seen: graph.calls, possible: [...possible.values()] };
}

// Decisions

export interface Argument {
  name: string;
  value: string;
  why: string;
}

export interface Decision {
  kind: "plan" | "call" | "end";
  title: string;
  why: string;
  ok: boolean;
  tool: string;
  steps: string[];
  arguments: Argument[];
}

interface CallRecord {
  tool: string;
  arguments: Record<string, unknown>;
  failure: string | null;
  error: string;
  sources: { place: unknown[]; source: string; why: string }[];
  origins: Record<string, { source: string; call?: number; path?: unknown[] }>;
}

const MOST_VALUE = 120;

function shown(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > MOST_VALUE ? `${text.slice(0, MOST_VALUE)}…` : text;
}

/** Return where an argument's value comes from, as a phrase. */
function whence(call: CallRecord, name: string, calls: CallRecord[]): string {
  const origin = call.origins?.[name];
  const source = call.sources?.find((one) => one.place?.[0] === name);
  if (source?.source === "identified") {
    return plainly(source.why);
  }
  if (origin?.source === "request") {
    return "stated in the request";
  }
  if (origin?.source === "result" && origin.call !== undefined) {
    const from = calls[origin.call]?.tool;
    return from ? `result of call ${origin.call + 1}, ${inWords(from)}` : `result of call ${origin.call + 1}`;
  }
  return source?.why ?? "";
}

/** Return a reason with the names of tools and parameters in words. */
function plainly(reason: string): string {
  return reason
    .replace(/\(call-([^()\s]+)\)/g, (_, tool: string) => inWords(tool))
    .replace(/\b[a-z0-9]+(?:_[a-z0-9]+)+\b/gi, (name) => name.replaceAll("_", " "));
}

function toolOf(action: string): string {
  return action.replace(/^\(call-/, "").replace(/\)$/, "");
}

function planned(event: RunEvent): string[] {
  const plan = event.plan as { blocks?: { actions?: { action?: string }[] }[] } | undefined;
  const actions = (plan?.blocks ?? []).flatMap((block) => block.actions ?? []);
  return actions.map((one) => inWords(toolOf(`(${one.action ?? ""})`)));
}

/** Return the decisions of a run of tools in their order, each with its reason. */
export function decisions(run: RunLog): Decision[] {
  const calls = (run.calls ?? []) as unknown as CallRecord[];
  const found: Decision[] = [];
  const add = (one: Partial<Decision> & Pick<Decision, "kind" | "title">) =>
    found.push({ why: "", ok: true, tool: "", steps: [], arguments: [], ...one });
  let made = 0;
  let reason = "";
  for (const event of run.events) {
    if (event.event === "plan") {
      const optimal = (event.plan as { optimal?: boolean } | undefined)?.optimal;
      const why = reason || (optimal ? "This chain of calls to the goal is proven to be the cheapest." : "");
      add({ kind: "plan", title: found.length === 0 ? "Plan" : "New plan", why, steps: planned(event) });
      reason = "";
    } else if (event.event === "step") {
      const sent = (event.sent as { action?: string }[] | undefined) ?? [];
      const tool = sent[0]?.action ?? toolOf(String(event.action));
      const record = sent.length > 0 ? calls[made] : undefined;
      add({
        kind: "call",
        title: `Call ${made + 1}: ${inWords(tool)}`,
        tool,
        ok: event.success === true && !record?.error,
        why: String(record?.error || event.error || ""),
        arguments: Object.entries(record?.arguments ?? {}).map(([name, value]) => ({
          name: inWords(name),
          value: shown(value),
          why: record ? whence(record, name, calls) : "",
        })),
      });
      made += sent.length;
    } else if (event.event === "replanning") {
      reason = plainly(String(event.reason ?? ""));
    } else if (event.event === "finished") {
      const verdict = run.about.verdict || event.reason;
      const reached = event.reached === true;
      add({
        kind: "end",
        title: reached ? "Goal reached" : "Goal not reached",
        why: String(verdict ?? ""),
        ok: reached,
      });
    }
  }
  return found;
}

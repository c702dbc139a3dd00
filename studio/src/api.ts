/** What the server answers, and the calls that ask for it. */

import type { Curve } from "./model/curves";
import type { DrawingRules } from "./model/drawing";
import type { ToolGraph } from "./model/tools";
import type { BoardData } from "./views/board";
import type { ReportDocument } from "./views/report";
import type { RunDocument } from "./model/story";

export interface Problem {
  file: string;
  plans: string[];
}

export interface ModelFiles {
  domain: string;
  problems: Problem[];
}

export interface RunEntry {
  name: string;
  request: string | null;
  scene: string | null;
  state: string | null;
  reached: boolean | null;
  began: string | null;
  /** What was decided last in a run of tools; null for other runs. */
  decision: string | null;
}

export interface Contents {
  root: string;
  version: string;
  models: ModelFiles[];
  runs: RunEntry[];
  /** Files that hold a tool graph. */
  graphs: string[];
  /** Folders of benches. */
  benches: string[];
}

export interface Need {
  condition: string;
  holds: boolean;
  made_true_by: number | null;
}

export interface TracedStep {
  step: number;
  action: string;
  time: number | null;
  ok: boolean;
  needs: Need[];
  added: string[];
  deleted: string[];
}

export interface Report {
  outcome: string;
  steps: number;
  executed: number;
  cost?: number | null;
  reason?: string | null;
  failure?: { message: string; step: number | null; action: string | null } | null;
}

/** A task or an action in a decomposition; the first node is the root. */
export interface TaskNode {
  task: string;
  method: string | null;
  step: number | null;
  children: number[];
}

export interface Trace {
  initial: string[];
  constants: string[];
  objects: Record<string, string[]>;
  steps: TracedStep[];
  spans: [string, number, number][];
  missing: string[];
  report: Report;
  curves: Curve[];
  processes: { name: string; start: number; end: number }[];
  decomposition: TaskNode[];
}

export interface Repair {
  outcome: string;
  note?: string | null;
  plan: string[] | null;
}

export interface Found {
  solved: boolean;
  proven: boolean;
  steps: string[] | null;
  planner: string;
}

export interface RoomObject {
  name: string;
  type: string;
  kind: string;
  box: [number, number, number, number, number, number];
  state: string[];
  place: string | null;
  enclosed: boolean;
}

export interface Scene {
  scene: string;
  agent: { x: number; z: number; yaw: number };
  held: string | null;
  objects: RoomObject[];
  grid: [number, number][];
}

export interface RunEvent {
  event: string;
  [key: string]: unknown;
}

export interface RunLog {
  name: string;
  about: Record<string, unknown>;
  events: RunEvent[];
  calls?: Record<string, unknown>[];
}

export interface Texts {
  domain: string;
  problem: string;
  plan: string;
}

export interface JobState {
  id: string;
  state: string;
  error?: { message: string };
  answer?: Record<string, unknown>;
}

/** An error that the server explains. */
export class ServerError extends Error {}

async function answer<T>(response: Response): Promise<T> {
  if (response.status === 204) {
    return undefined as T;
  }
  const data = await response.json().catch(() => ({ message: `status ${response.status}` }));
  if (!response.ok) {
    throw new ServerError(data.message ?? `status ${response.status}`);
  }
  return data as T;
}

export async function get<T>(path: string): Promise<T> {
  return answer<T>(await fetch(path));
}

export async function post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  return answer<T>(
    await fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal,
    }),
  );
}

export const contents = () => get<Contents>("/studio/index");
export const readText = async (file: string) =>
  (await get<{ text: string }>(`/studio/text?file=${encodeURIComponent(file)}`)).text;
export const saveText = (file: string, text: string) => post("/studio/text", { file, text });
export const readRun = (name: string) => get<RunDocument>(`/studio/run?name=${encodeURIComponent(name)}`);
/** Read a run; undefined if it is still as it was `seen`. */
export const watchRun = (name: string, seen: string) =>
  get<(RunDocument & { version: string }) | undefined>(
    `/studio/run?name=${encodeURIComponent(name)}&seen=${encodeURIComponent(seen)}`,
  );
export const readLog = (name: string) => get<RunLog>(`/studio/log?name=${encodeURIComponent(name)}`);
export const readGraph = (file: string) => get<ToolGraph>(`/studio/tools?name=${encodeURIComponent(file)}`);
export const readDrawing = (domain: string) =>
  get<DrawingRules | null>(`/studio/drawing?name=${encodeURIComponent(domain)}`);
export type BenchDocument = ReportDocument & { board: BoardData };
export const readBench = (name: string, earlier: string) =>
  get<BenchDocument>(`/studio/bench?${new URLSearchParams({ name, earlier })}`);
export const trace = (texts: Texts, signal?: AbortSignal) => post<Trace>("/v1/trace", texts, signal);
export const repair = (texts: Texts) => post<Repair>("/v1/repair", texts);
/** Return a document as a page that works offline. */
export async function sharedFile(title: string, document: unknown): Promise<Blob> {
  const response = await fetch("/studio/share", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ title, document }),
  });
  return response.ok ? response.blob() : answer<Blob>(response);
}
export const findPlan = (texts: Texts) =>
  post<Found>("/v1/plan", { domain: texts.domain, problem: texts.problem });

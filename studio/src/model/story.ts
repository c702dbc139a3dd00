/** A run as it is told: its plans, its steps with what was expected and observed, its dialogue. */

import type { Scene } from "../api";

export type Changes = [added: string[], deleted: string[]];

export interface Remark {
  event: string;
  title: string;
  text: string;
}

export interface StoryStep {
  number: number;
  action: string;
  plan: number;
  block: number;
  success: boolean;
  error: string;
  as_expected: boolean;
  missing: string[];
  unexpected: string[];
  expected: Changes | null;
  sent: string[];
  unseen: string[];
  heard: string[];
  remarks: Remark[];
  pose: { x: number; z: number; yaw: number } | null;
  changed: string[];
}

export interface StoryBlock {
  name: string;
  precondition: string[];
  postcondition: string[];
  actions: string[];
}

export interface StoryPlan {
  blocks: StoryBlock[];
  validator: string;
  planner: string;
  reason: string;
}

export interface Turn {
  speaker: string;
  title: string;
  lines: string[];
  problem: string;
  good: boolean | null;
}

export interface Asked {
  purpose: string;
  prompt: string;
  answer: string;
  error: string;
}

export interface Story {
  request: string;
  scene: string;
  facts: [string, string][];
  reached: boolean | null;
  outcome: string;
  plans: StoryPlan[];
  steps: StoryStep[];
  note: string;
  simulated: boolean;
  state: string;
  turns: Turn[];
  asked: Asked[];
}

export interface RunDocument {
  kind: "run";
  name: string;
  sight: string;
  before: Scene | null;
  after: Scene | null;
  story: Story;
}

/** Return what a step changed, as far as it was observed or is believed. */
export function observed(step: StoryStep): Changes {
  if (step.changed.length > 0) {
    const holds = step.changed.filter((fact) => !fact.startsWith("(not "));
    const ended = step.changed.filter((fact) => fact.startsWith("(not "));
    return [holds, ended.map((fact) => fact.slice(5, -1))];
  }
  const [added, deleted] = step.expected ?? [[], []];
  const missing = new Set(step.missing);
  const odd = new Set(step.unexpected);
  return [
    [...added.filter((fact) => !missing.has(fact)), ...step.unexpected],
    [...deleted.filter((fact) => !odd.has(fact)), ...step.missing.filter((fact) => !added.includes(fact))],
  ];
}

/** What two runs are compared by. */

import type { RunDocument } from "./story";

/** Return the measures of a run, with their values in words. */
export function runMeasures({ story }: RunDocument): [string, string][] {
  const failed = story.steps.filter((step) => !step.success).length;
  const odd = story.steps.filter((step) => !step.as_expected).length;
  const outcome = story.reached === null ? story.state : story.reached ? "reached" : "not reached";
  return [
    ["Request", story.request],
    ["Scene", story.scene],
    ["Goal", outcome],
    ["Steps", String(story.steps.length)],
    ["Steps that were refused", String(failed)],
    ["Steps with another outcome than expected", String(odd)],
    ["New plans", String(Math.max(0, story.plans.length - 1))],
    ["Questions to a language model", String(story.asked.length)],
  ];
}

/** Return the actions of a run in their order. */
export function actionsOf({ story }: RunDocument): string[] {
  return story.steps.map((step) => step.action);
}

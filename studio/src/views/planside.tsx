/** The views of a plan, of which each plan has those that say something about it. */

import type { ComponentChildren } from "preact";
import type { Trace } from "../api";
import type { DrawingRules } from "../model/drawing";
import { Problem } from "../ui";
import { Drawn } from "./drawn";
import { Causes, PlanPicture } from "./picture";
import { Stepper } from "./stepper";
import { Tasks } from "./tasks";
import { TimeLine } from "./timeline";

export type Side = "steps" | "picture" | "causes" | "numbers" | "tasks" | "drawing";

/** Return the views of a plan, with their names. */
export function sidesOf(trace: Trace | null, drawn: boolean): { id: Side; name: string }[] {
  const timed = trace !== null && trace.spans.length > 0;
  return [
    { id: "steps", name: "Steps" },
    ...(trace?.decomposition.length ? [{ id: "tasks" as const, name: "Tasks" }] : []),
    { id: "picture", name: timed ? "Time line" : "Causes" },
    ...(timed ? [{ id: "causes" as const, name: "Causes" }] : []),
    ...(trace?.curves.length && !timed ? [{ id: "numbers" as const, name: "Numbers" }] : []),
    ...(drawn ? [{ id: "drawing" as const, name: "Drawing" }] : []),
  ];
}

interface Props {
  trace: Trace;
  side: Side;
  rules: DrawingRules | null;
  /** Why there are no rules, if they are wrong. */
  error?: string;
  chosen: number;
  onChoose: (number: number) => void;
  remedy?: ComponentChildren;
}

export function PlanSide({ trace, side, rules, error, chosen, onChoose, remedy }: Props) {
  const shown = { trace, chosen, onChoose };
  switch (side) {
    case "picture":
      return <PlanPicture {...shown} />;
    case "causes":
      return <Causes {...shown} />;
    case "numbers":
      return <TimeLine {...shown} />;
    case "tasks":
      return <Tasks {...shown} />;
    case "drawing":
      return rules ? <Drawn {...shown} rules={rules} /> : <Problem text={error ?? ""} />;
    default:
      return <Stepper {...shown} remedy={remedy} />;
  }
}

/** A plan in a shared file: its states and its picture, beside its texts. */

import { useCallback, useState } from "preact/hooks";
import type { Texts, Trace } from "../api";
import type { DrawingRules } from "../model/drawing";
import { type Route, replaceValue } from "../router";
import { Tabs } from "../ui";
import { PlanSide, type Side, sidesOf } from "./planside";

export interface PlanDocument {
  kind: "plan";
  name: string;
  side: Side;
  texts: Texts;
  trace: Trace;
  drawing: DrawingRules | null;
}

const PARTS: readonly { id: keyof Texts; name: string }[] = [
  { id: "domain", name: "Domain" },
  { id: "problem", name: "Problem" },
  { id: "plan", name: "Plan" },
];
export function PlanView({ plan, route }: { plan: PlanDocument; route: Route }) {
  const [part, setPart] = useState<keyof Texts>("plan");
  const sides = sidesOf(plan.trace, plan.drawing !== null);
  const wanted = route.values.get("side") ?? plan.side;
  const side = sides.find((one) => one.id === wanted)?.id ?? "steps";
  const step = Number(route.values.get("step") ?? "0");
  const choose = useCallback((number: number) => replaceValue(route, "step", String(number)), [route]);
  const { report } = plan.trace;
  return (
    <div class="bench">
      <section class="texts" aria-label="Texts">
        <Tabs label="Texts" tabs={PARTS} chosen={part} onChoose={setPart} />
        <section class="pane text" tabIndex={0} aria-label={part}>
          <pre>{plan.texts[part]}</pre>
        </section>
      </section>
      <section class="views" aria-label="The plan">
        <div class="row">
          <Tabs
            label="The plan as"
            tabs={sides}
            chosen={side}
            onChoose={(id) => replaceValue(route, "side", id)}
          />
          <span class={`tag ${report.outcome === "valid" ? "good" : "bad"}`} role="status">
            {report.outcome}
          </span>
        </div>
        <PlanSide trace={plan.trace} side={side} rules={plan.drawing} chosen={step} onChoose={choose} />
      </section>
    </div>
  );
}

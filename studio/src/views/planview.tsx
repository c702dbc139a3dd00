/** A plan in a shared file: its states and its picture, beside its texts. */

import { useCallback, useState } from "preact/hooks";
import type { Texts, Trace } from "../api";
import { type Route, replaceValue } from "../router";
import { Tabs } from "../ui";
import { PlanPicture } from "./picture";
import { Stepper } from "./stepper";

export interface PlanDocument {
  kind: "plan";
  name: string;
  side: "steps" | "picture";
  texts: Texts;
  trace: Trace;
}

const PARTS: readonly { id: keyof Texts; name: string }[] = [
  { id: "domain", name: "Domain" },
  { id: "problem", name: "Problem" },
  { id: "plan", name: "Plan" },
];
const SIDES = [
  { id: "steps", name: "Steps" },
  { id: "picture", name: "Picture" },
] as const;

export function PlanView({ plan, route }: { plan: PlanDocument; route: Route }) {
  const [part, setPart] = useState<keyof Texts>("plan");
  const side = (route.values.get("side") ?? plan.side) as (typeof SIDES)[number]["id"];
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
            tabs={SIDES}
            chosen={side}
            onChoose={(id) => replaceValue(route, "side", id)}
          />
          <span class={`tag ${report.outcome === "valid" ? "good" : "bad"}`} role="status">
            {report.outcome}
          </span>
        </div>
        {side === "picture" ? (
          <PlanPicture trace={plan.trace} chosen={step} onChoose={choose} />
        ) : (
          <Stepper trace={plan.trace} chosen={step} onChoose={choose} />
        )}
      </section>
    </div>
  );
}

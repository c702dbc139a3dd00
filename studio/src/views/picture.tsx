/** A plan as a picture: causes of a plan without times, a chart over time of one with times. */

import { useMemo } from "preact/hooks";
import type { Trace } from "../api";
import { Export } from "../export";
import { causes, chain, layout, short, spoken } from "../model/trace";
import { chooses, Empty } from "../ui";
import { TimeLine } from "./timeline";

interface Props {
  trace: Trace;
  chosen: number;
  onChoose: (number: number) => void;
}

const WIDTH = 214;
const HEIGHT = 64;
const BOX = { width: 174, height: 36 };
const MOST = 300;

export function PlanPicture(props: Props) {
  if (props.trace.steps.length === 0) {
    return <Empty title="No step to draw">Write a plan, or let hvr find one.</Empty>;
  }
  return props.trace.spans.length > 0 ? <TimeLine {...props} /> : <Causes {...props} />;
}

export function Causes({ trace, chosen, onChoose }: Props) {
  const all = useMemo(() => causes(trace), [trace]);
  const placed = useMemo(() => layout(trace, all).slice(0, MOST), [trace, all]);
  // A step of a plan with times changes the state twice: it is chosen by its first change.
  const place = (step: number) => trace.steps.findIndex((one) => one.step === step) + 1;
  const now = chosen > 0 ? (trace.steps[chosen - 1]?.step ?? 0) : 0;
  const lit = now > 0 ? chain(all, now) : new Set<number>();
  const at = new Map(placed.map((one) => [one.step.step, one]));
  const columns = Math.max(...placed.map((one) => one.column)) + 1;
  const rows = Math.max(...placed.map((one) => one.row)) + 1;
  return (
    <figure class="picture">
      <section class="scroll framed" tabIndex={0} aria-label="What each step makes possible">
        <svg width={columns * WIDTH} height={rows * HEIGHT + 8}>
          <title>{`${placed.length} steps, each to the right of the steps that it depends on`}</title>
          {all.map((cause) => {
            const from = at.get(cause.from);
            const to = at.get(cause.to);
            if (!from || !to) {
              return null;
            }
            const x1 = from.column * WIDTH + BOX.width;
            const y1 = from.row * HEIGHT + BOX.height / 2 + 4;
            const x2 = to.column * WIDTH;
            const y2 = to.row * HEIGHT + BOX.height / 2 + 4;
            const middle = (x1 + x2) / 2;
            const on = lit.has(cause.from) && lit.has(cause.to);
            return (
              <path
                key={`${cause.from} ${cause.to} ${cause.fact}`}
                class={on ? "cause lit" : "cause"}
                d={`M${x1},${y1} C${middle},${y1} ${middle},${y2} ${x2},${y2}`}
              >
                <title>{`${cause.fact}: made true by step ${cause.from}, needed by step ${cause.to}`}</title>
              </path>
            );
          })}
          {placed.map(({ step, column, row }) => (
            <g
              key={step.step}
              transform={`translate(${column * WIDTH},${row * HEIGHT + 4})`}
              class={`node ${step.ok ? "" : "failed"} ${now === step.step ? "chosen" : ""} ${lit.has(step.step) ? "lit" : ""}`}
              {...chooses(() => onChoose(place(step.step)))}
            >
              <title>{step.action}</title>
              <rect width={BOX.width} height={BOX.height} rx="6" />
              <text x="10" y="23">
                {short(`${step.step} ${spoken(step.action)}`, 22)}
              </text>
            </g>
          ))}
        </svg>
      </section>
      <figcaption>
        A line leads from the step that makes a fact true to one that needs it.
        {placed.length === MOST && ` Only the first ${MOST} steps are drawn.`} <Export name="causes" />
      </figcaption>
    </figure>
  );
}

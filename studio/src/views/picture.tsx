/** A plan as a picture: causes of a plan without times, a chart over time of one with times. */

import { useMemo } from "preact/hooks";
import type { Trace } from "../api";
import { causes, chain, layout, spoken, words } from "../model/trace";
import { chooses, Empty } from "../ui";

interface Props {
  trace: Trace;
  chosen: number;
  onChoose: (number: number) => void;
}

const WIDTH = 190;
const HEIGHT = 64;
const BOX = { width: 150, height: 36 };
const MOST = 300;

export function PlanPicture(props: Props) {
  if (props.trace.steps.length === 0) {
    return <Empty title="No step to draw">Write a plan, or let hvr find one.</Empty>;
  }
  return props.trace.spans.length > 0 ? <Chart {...props} /> : <Causes {...props} />;
}

function short(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

function Causes({ trace, chosen, onChoose }: Props) {
  const all = useMemo(() => causes(trace), [trace]);
  const placed = useMemo(() => layout(trace, all).slice(0, MOST), [trace, all]);
  const lit = chosen > 0 ? chain(all, chosen) : new Set<number>();
  const at = new Map(placed.map((one) => [one.step.step, one]));
  const columns = Math.max(...placed.map((one) => one.column)) + 1;
  const rows = Math.max(...placed.map((one) => one.row)) + 1;
  return (
    <figure class="picture">
      <section class="scroll" tabIndex={0} aria-label="What each step makes possible">
        <svg
          width={columns * WIDTH}
          height={rows * HEIGHT + 8}
          role="img"
          aria-label={`${placed.length} steps, each to the right of the steps that it depends on`}
        >
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
              class={`node ${step.ok ? "" : "failed"} ${chosen === step.step ? "chosen" : ""} ${lit.has(step.step) ? "lit" : ""}`}
              {...chooses(() => onChoose(step.step))}
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
        {trace.steps.length > MOST && ` Only the first ${MOST} of ${trace.steps.length} steps are drawn.`}
      </figcaption>
    </figure>
  );
}

function Chart({ trace, chosen, onChoose }: Props) {
  const spans = trace.spans.slice(0, MOST);
  const end = Math.max(...spans.map(([, start, length]) => start + length), 0.001);
  const scale = 640 / end;
  const names = [...new Set(spans.map(([action]) => words(action)[1] ?? ""))];
  const ticks = Array.from({ length: 6 }, (_, tick) => (end * tick) / 5);
  return (
    <figure class="picture">
      <section class="scroll" tabIndex={0} aria-label="The plan over time">
        <svg
          class="chart"
          viewBox={`0 0 820 ${spans.length * 34 + 40}`}
          role="img"
          aria-label={`${spans.length} steps over ${end} units of time`}
        >
          {ticks.map((tick) => (
            <g key={tick} class="tick" transform={`translate(${160 + tick * scale},0)`}>
              <line y1="0" y2={spans.length * 34 + 8} />
              <text y={spans.length * 34 + 26} text-anchor="middle">
                {Number(tick.toFixed(2))}
              </text>
            </g>
          ))}
          {spans.map(([action, start, length], index) => {
            const number = trace.steps.findIndex((step) => step.step === index + 1) + 1;
            const tone = names.indexOf(words(action)[1] ?? "") % 4;
            return (
              <g
                // biome-ignore lint/suspicious/noArrayIndexKey: a step is its place in the plan
                key={index}
                class={`span tone${tone} ${chosen === number && number > 0 ? "chosen" : ""}`}
                transform={`translate(0,${index * 34 + 4})`}
                {...chooses(() => number > 0 && onChoose(number))}
              >
                <title>{`${action}: ${start} to ${start + length}`}</title>
                <text x="150" y="17" text-anchor="end">
                  {short(spoken(action), 22)}
                </text>
                <rect x={160 + start * scale} width={Math.max(3, length * scale)} height="26" rx="4" />
              </g>
            );
          })}
        </svg>
      </section>
      <figcaption>Steps with the same first object have the same shade.</figcaption>
    </figure>
  );
}

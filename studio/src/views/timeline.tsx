/** A plan over time: its steps as bars, processes and events, and the exact curves of its numbers. */

import type { Trace } from "../api";
import { Export } from "../export";
import { type Curve, changes, decimal, extent, pathOf, valueAt } from "../model/curves";
import { type NamedSpan, short, spoken, words } from "../model/trace";
import { chooses } from "../ui";

interface Props {
  trace: Trace;
  chosen: number;
  onChoose: (number: number) => void;
}

const LEFT = 140;
const WIDTH = 400;
const ALL = LEFT + WIDTH + 40;
const LETTERS = 17;
const LANE = 32;
const CURVE = 104;
const MOST = 300;
const MOST_CURVES = 60;

/** Return round times for the marks of an axis. */
export function ticksUntil(end: number): number[] {
  const rough = end / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough) ?? rough;
  return Array.from({ length: Math.floor(end / step + 1e-9) + 1 }, (_, tick) =>
    Number((tick * step).toPrecision(12)),
  );
}

export function TimeLine({ trace, chosen, onChoose }: Props) {
  const spans: NamedSpan[] = trace.spans
    .slice(0, MOST)
    .map(([action, start, length]) => ({ action, start, length }));
  const curves = trace.curves.filter(changes).slice(0, MOST_CURVES);
  const still = trace.curves.length - trace.curves.filter(changes).length;
  const events = trace.steps.flatMap((step, index) =>
    step.step === 0 && step.time !== null ? [{ ...step, time: step.time, index: index + 1 }] : [],
  );
  const end = Math.max(
    0.001,
    ...spans.map((span) => span.start + span.length),
    ...trace.processes.map((span) => span.end),
    ...trace.curves.flatMap((curve) => curve.pieces.map((piece) => piece.to)),
  );
  const x = (time: number) => LEFT + (time / end) * WIDTH;
  const names = [...new Set(spans.map((span) => words(span.action)[1] ?? words(span.action)[0] ?? ""))];
  const lanes = spans.length + trace.processes.length;
  const axis = lanes * LANE + (lanes > 0 ? 8 : 0) + (events.length > 0 ? 24 : 0);
  const height = axis + 32 + curves.length * CURVE;
  const now = chosen > 0 ? (trace.steps[chosen - 1]?.time ?? chosen) : null;
  return (
    <figure class="picture">
      <section class="scroll framed" tabIndex={0} aria-label="The plan over time">
        <svg class="chart" viewBox={`0 0 ${ALL} ${height}`}>
          <title>{`${spans.length} steps over ${decimal(end)} units of time`}</title>
          {ticksUntil(end).map((tick) => (
            <g key={tick} class="tick" transform={`translate(${x(tick)},0)`}>
              <line y1="0" y2={axis + 6} />
              <text y={axis + 20} text-anchor="middle">
                {decimal(tick)}
              </text>
            </g>
          ))}
          {spans.map((span, index) => {
            const number = trace.steps.findIndex((step) => step.step === index + 1) + 1;
            const failed = trace.steps.some((step) => step.step === index + 1 && !step.ok);
            const tone = names.indexOf(words(span.action)[1] ?? words(span.action)[0] ?? "") % 4;
            return (
              <g
                // biome-ignore lint/suspicious/noArrayIndexKey: a step is its place in the plan
                key={index}
                class={`span tone${tone} ${failed ? "failed" : ""} ${chosen > 0 && trace.steps[chosen - 1]?.step === index + 1 ? "chosen" : ""}`}
                transform={`translate(0,${index * LANE + 4})`}
                {...chooses(() => number > 0 && onChoose(number))}
              >
                <title>{`${spoken(span.action)}: ${decimal(span.start)} to ${decimal(span.start + span.length)}`}</title>
                <text x={LEFT - 12} y="17" text-anchor="end">
                  {short(spoken(span.action), LETTERS)}
                </text>
                <rect
                  x={x(span.start)}
                  width={Math.max(3, x(span.start + span.length) - x(span.start))}
                  height="24"
                  rx="4"
                />
              </g>
            );
          })}
          {trace.processes.map((span, index) => (
            <g
              // biome-ignore lint/suspicious/noArrayIndexKey: processes may be active several times
              key={index}
              class="process"
              transform={`translate(0,${(spans.length + index) * LANE + 4})`}
            >
              <title>{`the process ${spoken(span.name)} is active from ${decimal(span.start)} to ${decimal(span.end)}`}</title>
              <text x={LEFT - 12} y="17" text-anchor="end">
                {short(spoken(span.name), LETTERS)}
              </text>
              <rect x={x(span.start)} width={Math.max(3, x(span.end) - x(span.start))} height="24" rx="4" />
            </g>
          ))}
          {events.map((event) => (
            <g
              key={event.index}
              class="event"
              transform={`translate(${x(event.time)},${lanes * LANE + 8})`}
              {...chooses(() => onChoose(event.index))}
            >
              <title>{`${event.action ? spoken(event.action) : "timed fact"} at ${decimal(event.time)}: ${[...event.added, ...event.deleted.map((fact) => `not ${fact}`)].join(", ")}`}</title>
              <path d="M0,0 L7,12 L-7,12 Z" />
            </g>
          ))}
          {curves.map((curve, index) => (
            <CurveLane
              key={curve.fluent}
              curve={curve}
              top={axis + 32 + index * CURVE}
              x={x}
              end={end}
              now={now}
            />
          ))}
          {now !== null && now <= end && <line class="now" x1={x(now)} x2={x(now)} y1="0" y2={height} />}
        </svg>
      </section>
      <figcaption>
        {spans.length > 0 && <span>Steps with the same first object have the same shade. </span>}
        {trace.processes.length > 0 && <span>Dashed bars are processes. </span>}
        {curves.length > 0 && <span>The curves are what the validator computed, not samples of it. </span>}
        {still > 0 && <span>{still} numbers that never change are left out. </span>}
        {trace.spans.length > MOST && (
          <span>
            The first {MOST} of {trace.spans.length} steps are drawn.{" "}
          </span>
        )}
        <Export name="time-line" />
      </figcaption>
    </figure>
  );
}

interface LaneProps {
  curve: Curve;
  top: number;
  x: (time: number) => number;
  end: number;
  now: number | null;
}

function CurveLane({ curve, top, x, end, now }: LaneProps) {
  const [low, high] = extent(curve);
  const inner = CURVE - 36;
  const y = (value: number) => 12 + (high === low ? inner / 2 : ((high - value) / (high - low)) * inner);
  const value = now === null ? null : valueAt(curve, now);
  const name = spoken(curve.fluent);
  return (
    <g class="curve" transform={`translate(0,${top})`}>
      <line class="ground" x1={x(0)} x2={x(end)} y1={y(low)} y2={y(low)} />
      <line class="ground" x1={x(0)} x2={x(end)} y1={y(high)} y2={y(high)} />
      <text x={LEFT - 12} y={12 + inner / 2} text-anchor="end">
        {short(name, LETTERS)}
      </text>
      {value !== null && (
        <text class="value" x={LEFT - 12} y={12 + inner / 2 + 16} text-anchor="end">
          {decimal(value)}
        </text>
      )}
      <text class="bound" x={x(end) + 6} y={y(high) + 4}>
        {decimal(high)}
      </text>
      {high !== low && (
        <text class="bound" x={x(end) + 6} y={y(low) + 4}>
          {decimal(low)}
        </text>
      )}
      {curve.pieces.map((piece, index) => {
        const next = curve.pieces[index + 1];
        return (
          <g key={piece.from}>
            <title>{`${name}: ${decimal(piece.first)} at ${decimal(piece.from)}, ${decimal(piece.last)} at ${decimal(piece.to)}${piece.formula ? `; ${piece.formula}` : ""}`}</title>
            {piece.from === piece.to ? (
              <circle cx={x(piece.from)} cy={y(piece.first)} r="2.5" />
            ) : (
              <path d={pathOf(piece, x, y)} />
            )}
            {next && next.first !== piece.last && (
              <line class="jump" x1={x(piece.to)} x2={x(next.from)} y1={y(piece.last)} y2={y(next.first)} />
            )}
          </g>
        );
      })}
    </g>
  );
}

/** The states of a plan as pictures, by the rules of a `drawing.toml`. */

import { useEffect, useMemo, useState } from "preact/hooks";
import type { Trace } from "../api";
import { Export } from "../export";
import { Drawer, type DrawingRules } from "../model/drawing";
import { short, spoken, stateAfter } from "../model/trace";

interface Props {
  trace: Trace;
  rules: DrawingRules;
  chosen: number;
  onChoose: (number: number) => void;
}

const SAMPLES = 60;
const PAUSE = 900;
/** Higher pictures, in pixels, are not enlarged. */
const MOST_TALL = 400;

export function Drawn({ trace, rules, chosen, onChoose }: Props) {
  const count = trace.steps.length;
  const at = Math.max(0, Math.min(chosen, count));
  const [playing, setPlaying] = useState(false);
  const drawer = useMemo(() => {
    const every = Math.max(1, Math.ceil(count / SAMPLES));
    const shown = Array.from({ length: count + 1 }, (_, number) => number).filter(
      (number) => number % every === 0 || number === count,
    );
    return new Drawer(
      rules,
      trace.objects,
      trace.constants,
      shown.map((number) => stateAfter(trace, number)),
    );
  }, [trace, rules, count]);
  const picture = useMemo(() => drawer.picture(stateAfter(trace, at)), [drawer, trace, at]);
  const scale = Math.max(1, Math.min(1.5, MOST_TALL / picture.height));
  const step = at > 0 ? trace.steps[at - 1] : undefined;

  useEffect(() => {
    if (!playing) {
      return undefined;
    }
    if (at >= count) {
      setPlaying(false);
      return undefined;
    }
    const timer = setTimeout(() => onChoose(at + 1), PAUSE);
    return () => clearTimeout(timer);
  }, [playing, at, count, onChoose]);

  const go = (number: number) => {
    setPlaying(false);
    onChoose(Math.max(0, Math.min(number, count)));
  };
  const play = () => {
    if (at >= count) {
      onChoose(0);
    }
    setPlaying((old) => !old);
  };
  return (
    <figure class="picture drawing">
      <section class="scroll framed" tabIndex={0} aria-label="The state as a picture">
        <svg
          viewBox={`0 0 ${picture.width} ${picture.height}`}
          style={{ minWidth: `${0.8 * picture.width}px`, maxWidth: `${scale * picture.width}px` }}
        >
          <title>
            {step ? `The state after step ${step.step}, ${spoken(step.action)}` : "The initial state"}
          </title>
          {picture.lines.map((line) => (
            <line
              key={`${line.from} ${line.to}`}
              class="drawnlink"
              x1={line.x1}
              y1={line.y1}
              x2={line.x2}
              y2={line.y2}
            />
          ))}
          {picture.boxes.map((box) => (
            <g
              key={box.name}
              class={`drawn tone-${box.look.tone} ${box.holds ? "holder" : ""} ${box.marked ? "marked" : ""}`}
              style={{ transform: `translate(${box.x}px, ${box.y}px)` }}
            >
              <title>{spoken(box.name)}</title>
              <rect
                width={box.width}
                height={box.height}
                rx={box.look.round ? Math.min(box.height, box.width) / 2 : 6}
              />
              {box.look.label && (
                <text
                  x={box.holds ? 10 : box.width / 2}
                  y={box.holds ? 16 : box.height / 2 + 4}
                  text-anchor={box.holds ? "start" : "middle"}
                >
                  {short(box.name, 18)}
                </text>
              )}
            </g>
          ))}
        </svg>
      </section>
      <div class="controls">
        <button type="button" onClick={() => go(0)} aria-label="To the beginning">
          |◀
        </button>
        <button type="button" onClick={() => go(at - 1)} aria-label="Back">
          ◀
        </button>
        <button type="button" class="main" onClick={play} disabled={count === 0}>
          {playing ? "Pause" : "Play"}
        </button>
        <button type="button" onClick={() => go(at + 1)} aria-label="Forward">
          ▶
        </button>
        <input
          type="range"
          min="0"
          max={count}
          value={at}
          aria-label="Step"
          onInput={(event) => go(Number(event.currentTarget.value))}
        />
        <span class="faint">
          {at} of {count}
        </span>
      </div>
      <figcaption>
        <span role="status">
          {step
            ? `${step.ok ? "After" : "Before"} ${step.action ? spoken(step.action) : "a timed fact"}`
            : "The initial state"}
        </span>
        <Export name={`state-${at}`} />
      </figcaption>
    </figure>
  );
}

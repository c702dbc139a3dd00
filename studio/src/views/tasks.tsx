/** The decomposition of a hierarchical plan, folded. */

import { useMemo, useState } from "preact/hooks";
import type { TaskNode, Trace } from "../api";
import { spoken } from "../model/trace";
import { Literal } from "./literal";
import { openedDown, rowsOf, stepsBelow } from "../model/tasks";

interface Props {
  trace: Trace;
  chosen: number;
  onChoose: (number: number) => void;
}

const OPEN = 2;

export function Tasks({ trace, chosen, onChoose }: Props) {
  const nodes = trace.decomposition;
  const [open, setOpen] = useState(() => openedDown(nodes, OPEN));
  const below = useMemo(() => stepsBelow(nodes), [nodes]);
  const rows = useMemo(() => rowsOf(nodes, open), [nodes, open]);
  const [at, setAt] = useState(rows[0]?.node ?? 0);
  const failed = trace.report.failure?.action;

  const fold = (node: number, wanted: boolean) => {
    const next = new Set(open);
    if (wanted) {
      next.add(node);
    } else {
      next.delete(node);
    }
    setOpen(next);
  };
  const go = (node: number | undefined, list: HTMLElement) => {
    if (node !== undefined) {
      setAt(node);
      const step = nodes[node]?.step;
      if (step) {
        onChoose(step);
      }
      list.querySelector<HTMLElement>(`[data-node="${node}"]`)?.focus();
    }
  };
  const keys = (event: KeyboardEvent) => {
    const list = event.currentTarget as HTMLElement;
    const here = rows.findIndex((row) => row.node === at);
    const node = nodes[at] as TaskNode;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      go(rows[here + (event.key === "ArrowDown" ? 1 : -1)]?.node, list);
    } else if (event.key === "Home" || event.key === "End") {
      go(rows[event.key === "Home" ? 0 : rows.length - 1]?.node, list);
    } else if (event.key === "ArrowRight" && node.children.length > 0) {
      if (open.has(at)) {
        go(node.children[0], list);
      } else {
        fold(at, true);
      }
    } else if (event.key === "ArrowLeft") {
      if (open.has(at)) {
        fold(at, false);
      } else {
        go(rows[here]?.parent, list);
      }
    } else if (event.key === "Enter" || event.key === " ") {
      fold(at, !open.has(at));
    } else {
      return;
    }
    event.preventDefault();
  };

  return (
    <section class="taskview" aria-label="The tasks of the plan">
      <div class="row">
        <button
          type="button"
          class="small"
          onClick={() => setOpen(openedDown(nodes, Number.POSITIVE_INFINITY))}
        >
          Unfold all
        </button>
        <button type="button" class="small" onClick={() => setOpen(new Set())}>
          Fold all
        </button>
        <span class="faint">
          {Math.max(nodes.length - 1 - trace.steps.length, 0)} tasks, {trace.report.steps} steps
        </span>
      </div>
      <div class="tree" role="tree" aria-label="Tasks; use the arrow keys to move and fold" onKeyDown={keys}>
        {rows.map(({ node, depth }) => {
          const one = nodes[node] as TaskNode;
          const inner = one.children.length > 0;
          const steps = below[node];
          return (
            <div
              key={node}
              data-node={node}
              role="treeitem"
              aria-level={depth + 1}
              aria-expanded={inner ? open.has(node) : undefined}
              aria-selected={one.step !== null && one.step === chosen}
              tabIndex={node === at ? 0 : -1}
              class={`${one.step !== null && one.step === chosen ? "chosen" : ""} ${failed && one.task === failed ? "failed" : ""}`}
              style={{ paddingLeft: `${8 + Math.min(depth, 12) * 20}px` }}
              onClick={() => {
                setAt(node);
                if (one.step !== null) {
                  onChoose(one.step);
                } else {
                  fold(node, !open.has(node));
                }
              }}
              onKeyDown={() => undefined}
            >
              <span class="fold" aria-hidden="true">
                {inner ? (open.has(node) ? "▾" : "▸") : ""}
              </span>
              {one.step !== null && <span class="number">{one.step}</span>}
              <span class={one.step === null ? "task" : "action"}>
                <Literal text={one.task} />
              </span>
              {one.method && <span class="faint">by {spoken(one.method)}</span>}
              {one.step === null && (
                <span class="faint range">
                  {steps
                    ? steps[0] === steps[1]
                      ? `step ${steps[0]}`
                      : `steps ${steps[0]}–${steps[1]}`
                    : "no step"}
                </span>
              )}
            </div>
          );
        })}
      </div>
    </section>
  );
}

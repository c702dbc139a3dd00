/** Small parts that all views share. */

import { Component, type ComponentChildren, type RefObject, type VNode } from "preact";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

export interface Loaded<T> {
  data: T | null;
  error: string;
  loading: boolean;
}

/** Load something whenever its key changes; late answers to old keys are ignored. */
export function useLoaded<T>(key: string, load: (signal: AbortSignal) => Promise<T>, wait = 0): Loaded<T> {
  const [state, setState] = useState<Loaded<T>>({ data: null, error: "", loading: true });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for what is loaded
  useEffect(() => {
    const stop = new AbortController();
    setState((old) => ({ ...old, loading: true }));
    const timer = setTimeout(() => {
      load(stop.signal)
        .then((data) => !stop.signal.aborted && setState({ data, error: "", loading: false }))
        .catch((error: Error) => {
          if (!stop.signal.aborted) {
            setState({ data: null, error: error.message, loading: false });
          }
        });
    }, wait);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [key]);
  return state;
}

/** Return a component that is drawn again only when one of its properties is another. */
export function kept<P extends object>(draw: (props: P) => VNode) {
  return class extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      const [now, then] = [this.props as Record<string, unknown>, next as Record<string, unknown>];
      return Object.keys(then).some((name) => then[name] !== now[name]);
    }
    override render(props: P) {
      return draw(props);
    }
  };
}

/** Return a function that stays the same while what it calls changes. */
export function useSteady<A extends unknown[]>(call: (...values: A) => void): (...values: A) => void {
  const latest = useRef(call);
  latest.current = call;
  return useCallback((...values: A) => latest.current(...values), []);
}

/** Keep the chosen row of a list in view; only the list scrolls, not the page. */
export function useFollowed<T extends HTMLElement>(chosen: number): RefObject<T> {
  const list = useRef<T>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another row is chosen
  useLayoutEffect(() => {
    const row = list.current?.querySelector<HTMLElement>(":scope > .chosen");
    if (list.current && row) {
      const [inner, outer] = [row.getBoundingClientRect(), list.current.getBoundingClientRect()];
      const over = Math.min(0, inner.top - outer.top) || Math.max(0, inner.bottom - outer.bottom);
      list.current.scrollTop += over;
    }
  }, [chosen]);
  return list;
}

export function Problem({ text, children }: { text: string; children?: ComponentChildren }) {
  return (
    <div class="problem" role="alert">
      <pre>{text}</pre>
      {children}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function Waiting({ what }: { what: string }) {
  return (
    <p class="waiting" role="status">
      {what}…
    </p>
  );
}

interface TabsProps<T extends string> {
  label: string;
  tabs: readonly { id: T; name: string }[];
  chosen: T;
  onChoose: (id: T) => void;
}

/** Tabs that arrow keys move between. */
export function Tabs<T extends string>({ label, tabs, chosen, onChoose }: TabsProps<T>) {
  const move = (event: KeyboardEvent, by: number) => {
    const at = tabs.findIndex((tab) => tab.id === chosen);
    const next = tabs[(at + by + tabs.length) % tabs.length];
    if (next) {
      onChoose(next.id);
      const list = (event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("[role=tab]");
      list[(at + by + tabs.length) % tabs.length]?.focus();
    }
  };
  return (
    <div
      class="tabs"
      role="tablist"
      aria-label={label}
      onKeyDown={(event) => {
        if (event.key === "ArrowRight") {
          move(event, 1);
        } else if (event.key === "ArrowLeft") {
          move(event, -1);
        }
      }}
    >
      {tabs.map((tab) => (
        <button
          key={tab.id}
          type="button"
          role="tab"
          aria-selected={tab.id === chosen}
          tabIndex={tab.id === chosen ? 0 : -1}
          onClick={() => onChoose(tab.id)}
        >
          {tab.name}
        </button>
      ))}
    </div>
  );
}

/** Return a number with its noun: `1 tool`, `2 tools`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** Return the attributes of a shape that is a button; `pressed` says whether it is chosen. */
export function chooses(choose: () => void, pressed?: boolean) {
  return {
    role: "button",
    "aria-pressed": pressed,
    // Attributes of SVG elements keep their case, and browsers know only this one.
    tabindex: 0,
    onClick: choose,
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        choose();
      }
    },
  } as const;
}

/** Addresses: everything that is shown has one. */

import { useEffect, useState } from "preact/hooks";

export interface Route {
  view: string;
  values: URLSearchParams;
}

export function parse(hash: string): Route {
  const [view = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  return { view, values: new URLSearchParams(query) };
}

export function address(view: string, values: Record<string, string> = {}): string {
  const query = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== "")).toString();
  return `#/${view}${query ? `?${query}` : ""}`;
}

export function useRoute(): Route {
  const [route, setRoute] = useState(parse(location.hash));
  useEffect(() => {
    const listen = () => {
      clearTimeout(writer);
      writer = 0;
      setRoute(parse(location.hash));
    };
    const hear = (event: Event) => setRoute(parse((event as CustomEvent<string>).detail));
    addEventListener("hashchange", listen);
    addEventListener(REPLACED, hear);
    return () => {
      removeEventListener("hashchange", listen);
      removeEventListener(REPLACED, hear);
    };
  }, []);
  return route;
}

const REPLACED = "hvr-route";
/** Milliseconds between two writes of the address: browsers ignore pages that write it more often. */
const PAUSE = 250;
let writer = 0;
let written = Number.NEGATIVE_INFINITY;

/** Change a value of the address without a new entry in the history. */
export function replaceValue(route: Route, name: string, value: string): void {
  const values = Object.fromEntries(route.values);
  const next = address(route.view, { ...values, [name]: value });
  clearTimeout(writer);
  const write = () => {
    writer = 0;
    written = performance.now();
    history.replaceState(null, "", next);
  };
  const wait = written + PAUSE - performance.now();
  if (wait <= 0) {
    write();
  } else {
    writer = setTimeout(write, wait) as unknown as number;
  }
  dispatchEvent(new CustomEvent(REPLACED, { detail: next }));
}

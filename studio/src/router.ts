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
    const listen = () => setRoute(parse(location.hash));
    addEventListener("hashchange", listen);
    return () => removeEventListener("hashchange", listen);
  }, []);
  return route;
}

/** Change a value of the address without a new entry in the history. */
export function replaceValue(route: Route, name: string, value: string): void {
  const values = Object.fromEntries(route.values);
  history.replaceState(null, "", address(route.view, { ...values, [name]: value }));
  dispatchEvent(new HashChangeEvent("hashchange"));
}

/** Dark or light: as chosen, else as the system has it. */

import { useEffect, useState } from "preact/hooks";

export type Theme = "dark" | "light";

/** Return what was chosen before; a file that is opened from a disk may have no storage. */
function stored(): Theme | null {
  try {
    return localStorage.getItem("theme") as Theme | null;
  } catch {
    return null;
  }
}

export function useTheme(): [Theme, () => void] {
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const [theme, setTheme] = useState<Theme>(stored() ?? system);
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
  }, [theme]);
  const change = () => {
    const next = theme === "dark" ? "light" : "dark";
    try {
      localStorage.setItem("theme", next);
    } catch {
      // The choice then lasts as long as the page.
    }
    setTheme(next);
  };
  return [theme, change];
}

/** The studio: one page, with a view for each address. */

import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { contents } from "./api";
import { address, useRoute } from "./router";
import { Problem, useLoaded, Waiting } from "./ui";
import { Compare } from "./views/compare";
import { Gallery } from "./views/gallery";
import { RoomView } from "./views/room";
import { Tools } from "./views/tools";
import { Workbench } from "./views/workbench";

type Theme = "dark" | "light";

function useTheme(): [Theme, () => void] {
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const [theme, setTheme] = useState<Theme>((localStorage.getItem("theme") as Theme | null) ?? system);
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
  }, [theme]);
  const change = () => {
    const next = theme === "dark" ? "light" : "dark";
    localStorage.setItem("theme", next);
    setTheme(next);
  };
  return [theme, change];
}

function App() {
  const route = useRoute();
  const [theme, changeTheme] = useTheme();
  const loaded = useLoaded(route.view, contents);
  const links = [
    { view: "", name: "Gallery" },
    { view: "room", name: "Room" },
    { view: "compare", name: "Compare" },
    { view: "tools", name: "Tools" },
  ];
  return (
    <>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header class="bar">
        <a class="brand" href={address("")}>
          hvr<span>studio</span>
        </a>
        <nav aria-label="Views">
          {links.map((link) => (
            <a
              key={link.view}
              href={address(link.view)}
              aria-current={route.view === link.view ? "page" : undefined}
            >
              {link.name}
            </a>
          ))}
        </nav>
        <button type="button" class="quiet" onClick={changeTheme}>
          {theme === "dark" ? "Light" : "Dark"}
        </button>
      </header>
      <main id="content" tabIndex={-1}>
        {loaded.error && <Problem text={loaded.error} />}
        {!loaded.data && !loaded.error && <Waiting what="Reading the folder" />}
        {loaded.data &&
          (route.view === "model" ? (
            <Workbench contents={loaded.data} route={route} />
          ) : route.view === "room" ? (
            <RoomView contents={loaded.data} route={route} />
          ) : route.view === "compare" ? (
            <Compare contents={loaded.data} route={route} />
          ) : route.view === "tools" ? (
            <Tools contents={loaded.data} route={route} />
          ) : (
            <Gallery contents={loaded.data} />
          ))}
      </main>
    </>
  );
}

render(<App />, document.getElementById("studio") as HTMLElement);

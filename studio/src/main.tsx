/** The studio: one page, with a view for each address. */

import { render } from "preact";
import { contents } from "./api";
import { address, useRoute } from "./router";
import { useTheme } from "./theme";
import { Problem, useLoaded, Waiting } from "./ui";
import { Compare } from "./views/compare";
import { Gallery } from "./views/gallery";
import { RoomView } from "./views/room";
import { Tools } from "./views/tools";
import { Workbench } from "./views/workbench";

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

/** A shared file: the view of the document that it contains. It asks nobody for anything. */

import { render } from "preact";
import type { RunDocument } from "./model/story";
import { useRoute } from "./router";
import { useTheme } from "./theme";
import { type PairDocument, PairView } from "./views/pairs";
import { type PlanDocument, PlanView } from "./views/planview";
import { Replay } from "./views/replay";
import { Report, type ReportDocument } from "./views/report";

type Shared = RunDocument | PlanDocument | PairDocument | ReportDocument;

function App({ shared }: { shared: Shared }) {
  const route = useRoute();
  const [theme, changeTheme] = useTheme();
  return (
    <>
      <header class="bar">
        <span class="brand">
          hvr<span>{shared.kind === "pair" ? "comparison" : shared.kind}</span>
        </span>
        <span class="title">{shared.kind === "plan" ? shared.name : ""}</span>
        <button type="button" class="quiet" onClick={changeTheme}>
          {theme === "dark" ? "Light" : "Dark"}
        </button>
      </header>
      <main id="content" tabIndex={-1}>
        {shared.kind === "run" ? (
          <div class="roomview">
            <Replay run={shared} route={route} />
          </div>
        ) : shared.kind === "plan" ? (
          <PlanView plan={shared} route={route} />
        ) : shared.kind === "pair" ? (
          <div class="wide compare">
            <PairView pair={shared} />
          </div>
        ) : (
          <Report report={shared} />
        )}
      </main>
    </>
  );
}

const text = document.getElementById("document")?.textContent ?? "null";
render(<App shared={JSON.parse(text) as Shared} />, document.getElementById("studio") as HTMLElement);

/** Save what is shown as one file that works offline. */

import { useState } from "preact/hooks";
import { sharedFile } from "../api";
import { download } from "../export";

interface Props {
  /** What is saved: "plan". */
  what: string;
  title: string;
  document: unknown;
}

export function SaveFile({ what, title, document }: Props) {
  const [note, setNote] = useState("");
  const save = async () => {
    setNote("Saving…");
    try {
      download(await sharedFile(title, document), `${title.replace(/[^\w.-]+/g, "-").slice(0, 60)}.html`);
      setNote("");
    } catch (error) {
      setNote((error as Error).message);
    }
  };
  return (
    <span class="savefile">
      <button type="button" class="link" onClick={save}>
        Save this {what} as one file
      </button>{" "}
      <span role="status">{note}</span>
    </span>
  );
}

/** A run is saved by the server alone: it may be long. */
export function SaveRun({ name }: { name: string }) {
  return (
    <a class="savefile" href={`/studio/share?run=${encodeURIComponent(name)}`} download={`${name}.html`}>
      Save this run as one file
    </a>
  );
}

/** The language server: one connection for all open texts. */

import { type Extension, Prec } from "@codemirror/state";
import { keymap } from "@codemirror/view";
import {
  formatDocument,
  LSPClient,
  languageServerExtensions,
  renameSymbol,
  type Transport,
} from "@codemirror/lsp-client";

function transport(socket: WebSocket): Transport {
  const handlers = new Map<(text: string) => void, (event: MessageEvent) => void>();
  return {
    send: (message) => socket.send(message),
    subscribe: (handler) => {
      const listener = (event: MessageEvent) => handler(String(event.data));
      handlers.set(handler, listener);
      socket.addEventListener("message", listener);
    },
    unsubscribe: (handler) => {
      const listener = handlers.get(handler);
      if (listener) {
        socket.removeEventListener("message", listener);
      }
    },
  };
}

let connecting: Promise<LSPClient> | undefined;

/** Return the client, connected; a lost connection is made again by the next text that opens. */
export function languageClient(root: string): Promise<LSPClient> {
  connecting ??= new Promise((resolve, reject) => {
    const socket = new WebSocket(`${location.origin.replace("http", "ws")}/studio/lsp`);
    socket.addEventListener("error", () => {
      connecting = undefined;
      reject(new Error("the language server cannot be reached"));
    });
    socket.addEventListener("close", () => {
      connecting = undefined;
    });
    socket.addEventListener("open", () => {
      const client = new LSPClient({
        rootUri: uri(root, ""),
        timeout: 60_000,
        extensions: languageServerExtensions(),
      });
      client.connect(transport(socket));
      resolve(client);
    });
  });
  return connecting;
}

/** Return the address of a file below the folder. */
export function uri(root: string, file: string): string {
  const parts = `${root}/${file}`.split("/").map(encodeURIComponent);
  return `file://${parts.join("/").replace(/\/$/, "")}`;
}

/** Return the extensions of a text that the language server knows. */
export async function served(root: string, file: string): Promise<Extension> {
  const client = await languageClient(root);
  const keys = keymap.of([
    { key: "F2", run: renameSymbol, preventDefault: true },
    { key: "Shift-Alt-f", run: formatDocument, preventDefault: true },
  ]);
  return [client.plugin(uri(root, file), "pddl"), Prec.high(keys)];
}

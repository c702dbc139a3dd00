// The settings and commands of the extension against the real server: HVR names the hvr program.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

const require = createRequire(import.meta.url);
const rpc = require("vscode-jsonrpc/node");
const manifest = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8"));
const bundle = await readFile(new URL("../dist/extension.js", import.meta.url), "utf8");
const blocks = new URL("../../../examples/blocks/", import.meta.url);

test("every command of the menus is registered by the bundle", () => {
  for (const { command } of manifest.contributes.commands) {
    assert.ok(bundle.includes(`"${command}"`), command);
  }
});

test("the default command serves the documents of the extension", async () => {
  const [program, ...rest] = manifest.contributes.configuration.properties["hvr.command"].default;
  const server = spawn(process.env.HVR ?? program, rest, { stdio: ["pipe", "pipe", "inherit"] });
  const connection = rpc.createMessageConnection(
    new rpc.StreamMessageReader(server.stdout),
    new rpc.StreamMessageWriter(server.stdin),
  );
  connection.onRequest("workspace/applyEdit", () => ({ applied: true }));
  const published = new Map();
  let arrived = () => {};
  connection.onNotification("textDocument/publishDiagnostics", (one) => {
    published.set(one.uri, one.diagnostics);
    arrived();
  });
  connection.listen();
  try {
    const answer = await connection.sendRequest("initialize", {
      processId: process.pid,
      capabilities: {},
      workspaceFolders: [{ uri: blocks.href, name: "blocks" }],
    });
    const served = answer.capabilities.executeCommandProvider.commands;
    assert.deepEqual([...served].sort(), ["hvr.plan", "hvr.showStates", "hvr.validate"]);
    await connection.sendNotification("initialized", {});
    const uris = [];
    for (const [name, languageId] of [["domain.pddl", "pddl"], ["problem.pddl", "pddl"], ["plan.txt", "plan"]]) {
      const path = fileURLToPath(new URL(name, blocks));
      const uri = pathToFileURL(path).href;
      const text = await readFile(path, "utf8");
      await connection.sendNotification("textDocument/didOpen", {
        textDocument: { uri, languageId, version: 1, text },
      });
      uris.push(uri);
    }
    while (!published.get(uris[2])?.length) {
      await new Promise((resolve) => { arrived = resolve; });
    }
    assert.equal(published.get(uris[2])[0].code, "HVR101");
    const done = await connection.sendRequest("workspace/executeCommand", {
      command: "hvr.validate",
      arguments: [uris[2]],
    });
    assert.equal(done.code, 1);
    assert.match(done.text, /invalid: precondition at step 3/);
  } finally {
    await connection.sendRequest("shutdown");
    await connection.sendNotification("exit");
    await new Promise((resolve) => server.on("exit", resolve));
  }
});

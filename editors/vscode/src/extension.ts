import { commands, ExtensionContext, window, workspace } from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions } from "vscode-languageclient/node";

const LANGUAGES = ["pddl", "hddl", "plan"];
const STEPS_OF_SERVER: Record<string, string> = {
  "hvr.editor.validate": "hvr.validate",
  "hvr.editor.plan": "hvr.plan",
  "hvr.editor.showStates": "hvr.showStates",
};

/** The result of a command of the server: hvr's exit code and output, and the file it wrote. */
interface Result {
  code: number;
  text: string;
  file: string;
}

let client: LanguageClient | undefined;

export async function activate(context: ExtensionContext): Promise<void> {
  const output = window.createOutputChannel("hvr");
  context.subscriptions.push(output);

  async function start(): Promise<void> {
    const command = workspace.getConfiguration("hvr").get<string[]>("command", ["hvr", "lsp"]);
    const server: ServerOptions = { command: command[0], args: command.slice(1) };
    const options: LanguageClientOptions = {
      documentSelector: LANGUAGES.map((language) => ({ language })),
      outputChannel: output,
      synchronize: { fileEvents: workspace.createFileSystemWatcher("**/*.{pddl,hddl,plan,soln}") },
    };
    client = new LanguageClient("hvr", "hvr", server, options);
    try {
      await client.start();
    } catch (error) {
      client = undefined;
      const choice = await window.showErrorMessage(
        `hvr did not start: ${command.join(" ")}. Install hvr with its extra "lsp", or set hvr.command.`,
        "Open Setting",
      );
      output.appendLine(String(error));
      if (choice) {
        await commands.executeCommand("workbench.action.openSettings", "hvr.command");
      }
    }
  }

  for (const [own, served] of Object.entries(STEPS_OF_SERVER)) {
    context.subscriptions.push(commands.registerCommand(own, () => run(served, output)));
  }
  context.subscriptions.push(
    commands.registerCommand("hvr.editor.restart", async () => {
      await deactivate();
      await start();
    }),
    workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration("hvr.command")) {
        await commands.executeCommand("hvr.editor.restart");
      }
    }),
  );
  await start();
}

/** Run a command of the server on the text in the active editor, and show hvr's output. */
async function run(command: string, output: { appendLine(text: string): void; show(keep: boolean): void }) {
  const document = window.activeTextEditor?.document;
  if (client === undefined || document === undefined) {
    await window.showWarningMessage("Open a problem or a plan first; the hvr server must be running.");
    return;
  }
  const result = await client.sendRequest<Result>("workspace/executeCommand", {
    command,
    arguments: [document.uri.toString()],
  });
  output.appendLine(result.text);
  if (!result.file) {
    output.show(true);
  }
}

export async function deactivate(): Promise<void> {
  const running = client;
  client = undefined;
  await running?.stop();
}

// The grammars colour what people read: through the engine that VS Code uses.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { test } from "node:test";

const require = createRequire(import.meta.url);
const oniguruma = require("vscode-oniguruma");
const { Registry, parseRawGrammar } = require("vscode-textmate");

async function grammar(name) {
  const wasm = await readFile(require.resolve("vscode-oniguruma/release/onig.wasm"));
  await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength)).catch(() => {});
  const registry = new Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async (scope) => {
      const file = new URL(`../syntaxes/${scope.split(".")[1]}.tmLanguage.json`, import.meta.url);
      return parseRawGrammar(await readFile(file, "utf8"), file.pathname);
    },
  });
  return registry.loadGrammar(`source.${name}`);
}

/** Return the innermost scope of the first place of a word in a line. */
async function scope(language, line, word) {
  const found = (await grammar(language)).tokenizeLine(line);
  const at = line.indexOf(word);
  const token = found.tokens.find((one) => one.startIndex <= at && at < one.endIndex);
  return token.scopes.at(-1);
}

const EXPECTED = [
  ["pddl", "(:action pick-up", ":action", "storage.type.schema.pddl"],
  ["pddl", "(:action pick-up", "pick-up", "entity.name.function.pddl"],
  ["pddl", ":precondition (and (clear ?x))", "and", "keyword.operator.logical.pddl"],
  ["pddl", ":precondition (and (clear ?x))", "clear", "entity.name.function.predicate.pddl"],
  ["pddl", ":precondition (and (clear ?x))", "?x", "variable.parameter.pddl"],
  ["pddl", ":effect (at start (not (free)))", "at start", "keyword.control.timing.pddl"],
  ["pddl", "(at start-place)", "at", "entity.name.function.predicate.pddl"],
  ["pddl", "(increase (total-cost) 2.5)", "increase", "keyword.operator.assignment.pddl"],
  ["pddl", "(increase (total-cost) 2.5)", "2.5", "constant.numeric.pddl"],
  ["pddl", "?a - block", "block", "entity.name.type.pddl"],
  ["pddl", "(on a b) ; (not this)", "(not", "comment.line.semicolon.pddl"],
  ["pddl", "(:method m-deliver", "m-deliver", "entity.name.function.pddl"],
  ["plan", "0.000: (drive t a b) [5.0]", "0.000", "constant.numeric.time.plan"],
  ["plan", "0.000: (drive t a b) [5.0]", "drive", "entity.name.function.plan"],
  ["plan", "0.000: (drive t a b) [5.0]", "[5.0]", "constant.numeric.duration.plan"],
  ["plan", "3 deliver p -> m-deliver 4 5", "m-deliver", "entity.name.type.method.plan"],
];

for (const [language, line, word, expected] of EXPECTED) {
  test(`${language}: ${word} in ${line}`, async () => {
    assert.equal((await scope(language, line, word)).trim(), expected);
  });
}

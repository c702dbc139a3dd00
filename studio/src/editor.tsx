/** A text editor for PDDL, with the language server's help. */

import { closeBrackets } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { lintGutter } from "@codemirror/lint";
import { Compartment, EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "preact/hooks";
import { served } from "./lsp";

const LOGIC = /^(?:define|and|or|not|imply|exists|forall|when|increase|decrease|assign|either)$/i;

const pddl = StreamLanguage.define<{ head: boolean }>({
  name: "pddl",
  startState: () => ({ head: false }),
  token(stream, state) {
    if (stream.eatSpace()) {
      return null;
    }
    if (stream.match(/^;.*/)) {
      return "comment";
    }
    if (stream.eat("(")) {
      state.head = true;
      return "bracket";
    }
    const head = state.head;
    state.head = false;
    if (stream.eat(")")) {
      return "bracket";
    }
    stream.match(/^[^\s();]+/);
    const word = stream.current();
    if (word.startsWith(":")) {
      return "keyword";
    }
    if (word.startsWith("?")) {
      return "variableName";
    }
    if (/^-?[\d.]+:?$/.test(word)) {
      return "number";
    }
    if (LOGIC.test(word)) {
      return "operatorKeyword";
    }
    return head ? "propertyName" : null;
  },
  languageData: { commentTokens: { line: ";" }, closeBrackets: { brackets: ["("] } },
});

const colours = HighlightStyle.define([
  { tag: tags.comment, color: "var(--ink-3)", fontStyle: "italic" },
  { tag: tags.keyword, color: "var(--accent)" },
  { tag: tags.operatorKeyword, color: "var(--accent-2)" },
  { tag: tags.propertyName, color: "var(--ink)", fontWeight: "600" },
  { tag: tags.variableName, color: "var(--variable)" },
  { tag: tags.number, color: "var(--accent-2)" },
  { tag: tags.bracket, color: "var(--ink-3)" },
]);

const mark = StateEffect.define<number | null>();
const marked = StateField.define({
  create: () => Decoration.none,
  update(value, transaction) {
    let next = value.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (effect.is(mark)) {
        const line = effect.value;
        const doc = transaction.state.doc;
        const known = line !== null && line >= 1 && line <= doc.lines;
        next = known
          ? Decoration.set([Decoration.line({ class: "marked" }).range(doc.line(line).from)])
          : Decoration.none;
      }
    }
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

interface Props {
  root: string;
  file: string;
  text: string;
  label: string;
  /** 1-based line to mark; null for none. */
  line?: number | null;
  onChange: (text: string) => void;
  onLine?: (line: number) => void;
}

export function Editor({ root, file, text, label, line = null, onChange, onLine }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const calls = useRef({ onChange, onLine });
  calls.current = { onChange, onLine };

  // biome-ignore lint/correctness/useExhaustiveDependencies: the text is only the first one
  useEffect(() => {
    const server = new Compartment();
    const editor = new EditorView({
      parent: place.current as HTMLDivElement,
      state: EditorState.create({
        doc: text,
        extensions: [
          lineNumbers(),
          history(),
          bracketMatching(),
          closeBrackets(),
          lintGutter(),
          pddl,
          marked,
          syntaxHighlighting(colours),
          keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
          EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false" }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) {
              calls.current.onChange(update.state.doc.toString());
            }
            if (update.selectionSet) {
              const head = update.state.selection.main.head;
              calls.current.onLine?.(update.state.doc.lineAt(head).number);
            }
          }),
          server.of([]),
        ],
      }),
    });
    view.current = editor;
    editor.scrollDOM.tabIndex = 0;
    let open = true;
    served(root, file)
      .then((extension) => open && editor.dispatch({ effects: server.reconfigure(extension) }))
      .catch(() => undefined);
    return () => {
      open = false;
      view.current = null;
      editor.destroy();
    };
  }, [root, file]);

  useEffect(() => {
    const editor = view.current;
    if (editor !== null && editor.state.doc.toString() !== text) {
      editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } });
    }
  }, [text]);

  useEffect(() => {
    view.current?.dispatch({ effects: mark.of(line) });
  }, [line]);

  return <div class="editor" ref={place} />;
}

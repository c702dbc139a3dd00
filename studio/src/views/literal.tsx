/** A fact or an action as people read it: its name, then its objects. */

import { literalParts } from "../model/trace";

export function Literal({ text }: { text: string }) {
  const { not, name, rest } = literalParts(text);
  return (
    <span class="literal">
      {not && <em>not </em>}
      <b>{name}</b>
      {rest && <bdi> {rest}</bdi>}
    </span>
  );
}

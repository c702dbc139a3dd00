/** A fact or an action as people read it: its name, then its objects. */

import { literalParts, short } from "../model/trace";
import { kept } from "../ui";

const MOST = 160;

export const Literal = kept(({ text }: { text: string }) => {
  const { not, name, rest } = literalParts(text);
  const long = name.length > MOST || rest.length > MOST;
  return (
    <span class="literal" title={long ? short(text, 10 * MOST) : undefined}>
      {not && <em>not </em>}
      <b>{short(name, MOST)}</b>
      {rest && <bdi> {short(rest, MOST)}</bdi>}
    </span>
  );
});

"""Object names that people write with a space: 'drawer 9' and 'drawer number 9' are drawer-9."""

from __future__ import annotations

import re

from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.function_words import FUNCTION_WORDS
from hvr.language.lexicon import Adjective, Lexicon, Noun
from hvr.language.taxonomy import Taxonomy

_SPACED = re.compile(
    r"(?P<noun>[a-z]+(?: [a-z]+)?) (?:number |no\.? |# ?)?(?P<number>\d+)(?![\w-]|\.\d)"
    r"(?= ?(?P<next>[a-z]*))",
    re.IGNORECASE,
)
_MEASURES = frozenset({*FUNCTION_WORDS["unit"], "times", "percent", "degrees", "more", "of"})


def with_object_names(text: str, inventory: Inventory, taxonomy: Taxonomy, lexicon: Lexicon) -> str:
    """Replace each noun with a number by the object name, if the scene has this object.

    A number before a noun or a unit stays a number: 'put in the drawer 2 forks'.
    """

    def named(match: re.Match[str]) -> str:
        after = match["next"].lower()
        counts = any(isinstance(e, Noun | Adjective) for e in lexicon.lookup(after))
        words = match["noun"].split()
        for start in () if counts or after in _MEASURES else range(len(words)):
            found = lexicon.lookup(" ".join(words[start:]).lower())
            kinds = taxonomy.concrete_of(e.object_class for e in found if isinstance(e, Noun))
            for kind in kinds:
                for name in inventory.of(kind):
                    if name.rpartition("-")[2] == match["number"]:
                        return " ".join((*words[:start], name))
        return match[0]

    return _SPACED.sub(named, text)

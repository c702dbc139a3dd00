"""The readers of requests, by name: the grammar, the learnt reader, or both with agreement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hvr.errors import HvrError, LanguageError, MissingExtraError, UsageError
from hvr.knowledge.ontology import Ontology
from hvr.knowledge.retrieval.inventory import Inventory
from hvr.language.goal_builder import Goal
from hvr.language.grammar import Reader
from hvr.pddl import Domain
from hvr.values import cached_property

if TYPE_CHECKING:
    from hvr.language.learnt.reader import LearntReader

READERS = ("grammar", "learnt", "both")
"""The names that `make_reader` takes."""

_PLAIN_WORDS = 5
"""A request of so few words that the grammar reads whole needs no second reader."""


def make_reader(
    name: str | None, ontology: Ontology, domain: Domain, *, any_place: bool = False
) -> Reader:
    """Return a reader by name.

    Args:
        name: one of `READERS`; None for both where the extra `language` is installed, and for the
            grammar elsewhere.
        ontology: words, task knowledge and preferences.
        domain: the actions.
        any_place: see `Reader`.

    Raises:
        UsageError: there is no such reader.
        MissingExtraError: the extra is not installed.
    """
    check_reader(name)
    if name is None:
        name = "both" if _is_installed() else "grammar"
    kinds = {"grammar": Reader, "learnt": LearntOnly, "both": AgreementReader}
    return kinds[name](ontology, domain, any_place=any_place)


def check_reader(name: str | None) -> None:
    """Refuse a name that no reader has, or one whose extra is not installed.

    Raises:
        UsageError: there is no such reader.
        MissingExtraError: the extra is not installed.
    """
    if name is not None and name not in READERS:
        raise UsageError(f"unknown reader {name!r} (readers: {', '.join(READERS)})", field="reader")
    if name in ("learnt", "both") and not _is_installed():
        from hvr.language.learnt.encoder import EXTRA, PACKAGE

        raise MissingExtraError(PACKAGE, EXTRA)


def _is_installed() -> bool:
    from hvr.language.learnt.encoder import is_installed

    return is_installed()


class _WithLearnt(Reader):
    """A reader that can ask the learnt one, which is loaded when it is asked first."""

    @cached_property
    def learnt(self) -> LearntReader:
        """The learnt reader."""
        from hvr.language.learnt.reader import LearntReader

        return LearntReader(self.ontology, self.domain, self.lexicon, self.taxonomy)


class LearntOnly(_WithLearnt):
    """Reads requests by what was learnt alone."""

    def goals(self, request: str, inventory: Inventory) -> tuple[Goal, ...]:
        """See `Reader`."""
        from hvr.language.learnt.agreement import ReaderThresholds, marked

        reading = self.learnt.read(request, inventory)
        if reading.goal is None or reading.p < ReaderThresholds().alone:
            why = reading.refusal or f"{100 * reading.p:.0f} % sure at most"
            raise LanguageError(f"the learnt reader does not understand this request: {why}")
        return (marked(reading.goal, reading.p, self.learnt.head.digest),)


class AgreementReader(_WithLearnt):
    """Reads requests by grammar, and asks the learnt reader where there may be doubt."""

    def goals(self, request: str, inventory: Inventory) -> tuple[Goal, ...]:
        """See `Reader`."""
        grammar: Goal | HvrError
        try:
            grammar, *others = super().goals(request, inventory)
        except HvrError as error:
            grammar, others = error, []
        if isinstance(grammar, Goal) and (others or is_plain(request, grammar)):
            return grammar, *others
        from hvr.language.learnt.agreement import EndStates, ReaderThresholds, agreed

        try:
            reading = self.learnt.read(request, inventory)
        except LanguageError:
            if isinstance(grammar, HvrError):
                raise grammar from None
            return (grammar,)
        ends = EndStates(self.taxonomy, inventory, self.domain)
        return agreed(grammar, reading, ends, ReaderThresholds(), self.learnt.head.digest)


def is_plain(request: str, goal: Goal) -> bool:
    """Return whether a request is so short, and read so fully, that no one else is asked."""
    return len(request.split()) <= _PLAIN_WORDS and not goal.unread and not goal.notes


__all__ = ["READERS", "AgreementReader", "LearntOnly", "check_reader", "is_plain", "make_reader"]

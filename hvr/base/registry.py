"""Registries of implementations by name, each imported only on demand."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from hvr.errors import HvrError, UsageError


@dataclass(frozen=True)
class Registry:
    """The implementations of one contract.

    A name is one of `entries`, an entry point that an installed package declares, or
    `module:attribute` for code that is not installed but can be imported.

    Args:
        kind: the word for an implementation in messages, such as `policy`.
        plural: its plural, such as `policies`.
        entries: hvr's own implementations, as `module:attribute`, by name.
        group: the group of entry points that other packages use.
        members: what every implementation has when it is made.
    """

    kind: str
    plural: str
    entries: Mapping[str, str]
    group: str
    members: tuple[str, ...] = ()

    def names(self) -> tuple[str, ...]:
        """Return all names, hvr's own first."""
        others = (name for name in self._declared() if name not in self.entries)
        return (*self.entries, *sorted(others))

    def check(self, name: str) -> None:
        """Refuse a name that no implementation can have.

        Raises:
            UsageError: the name is unknown; the message lists the known ones.
        """
        # Reading the entry points takes longer than most commands: hvr's own names come first.
        if name in self.entries or self._is_path(name) or name in self._declared():
            return
        raise UsageError(
            f"unknown {self.kind} {name!r}{self._hint(name)} "
            f"({self.plural}: {', '.join(self.names())}, "
            "or module:attribute)"
        )

    def check_from_file(self, name: str, place: object, named: Collection[str] = ()) -> None:
        """Refuse code that only a file names: whoever gives you a file must not run code with it.

        Args:
            name: The name in the file; names of installed implementations are accepted.
            place: The file or folder, for the message.
            named: Names that the caller has given.

        Raises:
            UsageError: The name is of code that is not installed, and the caller has not given it.
        """
        known = name.partition(":")[0]
        if known in self.entries or known in self.names() or name in named:
            return
        if self._is_path(name):
            raise UsageError(
                f"{place} names the {self.kind} {name!r}, code that is not installed: name it "
                "yourself, too, if it may be run",
                field=self.kind,
            )

    def load(self, name: str) -> Any:
        """Import an implementation.

        Raises:
            UsageError: the name is unknown, or what it names cannot be imported.
        """
        self.check(name)
        where = self.entries.get(name) or (name if self._is_path(name) else self._declared()[name])
        module, _, attribute = where.partition(":")
        try:
            implementation: Any = import_module(module)
        except Exception as error:
            if name in self.entries or isinstance(error, HvrError):
                raise  # hvr's own: a fault of hvr, not of the name
            raise UsageError(
                f"{self.kind} {name!r} cannot be imported: {error}{self._hint(module)} (a module "
                "that is not installed has to be on PYTHONPATH)"
            ) from error
        try:
            for part in attribute.split("."):
                implementation = getattr(implementation, part)
        except AttributeError:
            raise UsageError(f"{self.kind} {name!r}: {module} has no {attribute!r}") from None
        if not callable(implementation):
            raise UsageError(f"{self.kind} {name!r}: {attribute} cannot be called")
        return implementation

    def make(self, name: str, *arguments: Any) -> Any:
        """Call the entry of a name, and check what it returns.

        Raises:
            UsageError: the name is unknown, or what the entry returns lacks a member.
            HvrError: what the entry raises.
        """
        made = self.load(name)(*arguments)
        lacking = [member for member in self.members if not hasattr(made, member)]
        if lacking:
            raise UsageError(
                f"{name!r} returns no {self.kind}: {type(made).__name__} has no "
                f"{', '.join(lacking)}"
            )
        return made

    def _hint(self, name: str) -> str:
        near = difflib.get_close_matches(name, self.names(), n=1)
        return f"; did you mean {near[0]!r}?" if near and near[0] != name else ""

    @staticmethod
    def _is_path(name: str) -> bool:
        module, colon, attribute = name.partition(":")
        return bool(colon) and all(
            part.isidentifier() for part in (*module.split("."), *attribute.split("."))
        )

    def _declared(self) -> dict[str, str]:
        from importlib.metadata import entry_points

        return {
            point.name: f"{point.module}:{point.attr}" for point in entry_points(group=self.group)
        }

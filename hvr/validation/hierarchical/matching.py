"""Match tasks with the subtasks of methods, and evaluate method preconditions along a plan."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice, pairwise
from typing import overload

from hvr.base.nested import Steps, run_trampoline
from hvr.errors import InconsistentEffectError, UndefinedValueError
from hvr.pddl import (
    TRUE,
    ActionSchema,
    And,
    Comparison,
    Equal,
    Exists,
    Expression,
    Formula,
    GroundAction,
    Misfit,
    Not,
    Task,
    TypedName,
)
from hvr.pddl import state as ground
from hvr.pddl.compiler import Template, template_of
from hvr.pddl.formulas import functions_of, walk
from hvr.pddl.hierarchy.model import Method
from hvr.pddl.hierarchy.plan import SMALL_TREE, DecompositionTree
from hvr.pddl.state import Conjunction, Operator, Values, set_bits
from hvr.values import Value

# Matching -----------------------------------------------------------------------------------------
# The assignment of a task's children to the subtasks of its method.

MOST_TRIALS = 20_000
MOST_MATCHES = 200


class SubtaskMatch(Value):
    """An assignment of a task's children in the plan to the subtasks of its method.

    Attributes:
        children: The tree node for each subtask, in the order of the method.
        binding: The values of the method's parameters that the assignment determines.
    """

    children: tuple[int, ...]
    binding: dict[str, str]


class Matches(Value):
    """The matches of a node with a method; `complete` is False if there were too many to try.

    `searched` says whether a search was necessary.
    """

    found: tuple[SubtaskMatch, ...]
    complete: bool = True
    searched: bool = False


class SubtaskMatcher:
    """Matches tasks of a tree with methods.

    If `strict`, the plan must list the subtasks in an order that the method allows.
    """

    def __init__(self, task: Task, tree: DecompositionTree, *, strict: bool) -> None:
        self._task = task
        self._tree = tree
        self._strict = strict
        self._types: dict[str, dict[str, Mapping[str, object] | None]] = {}

    def matches(self, node: int, method: Method) -> Matches:
        children = self._tree.children[node]
        subtasks = method.network.subtasks
        line = self._tree.line(node)
        if len(children) != len(subtasks) or method.task != line.name:
            return Matches(())
        start = self.bind(method, {}, method.args, line.args)
        if start is None:
            return Matches(())
        sequence = method.network.sequence
        if sequence is not None and (self._strict or self._in_sequence(children)):
            ordered = (
                children if self._strict else sorted(children, key=self._tree.first.__getitem__)
            )
            found = self._one(method, sequence, ordered, start)
            return Matches(() if found is None else (found,))
        return self._search(method, children, start)

    def bind(
        self, method: Method, binding: dict[str, str], terms: Sequence[str], args: Sequence[str]
    ) -> dict[str, str] | None:
        """Extend a binding so that terms equal arguments; return None if this is impossible."""
        types = self._types_of(method)
        result = binding
        for term, value in zip(terms, args, strict=True):
            if term[0] != "?":
                if term != value:
                    return None
                continue
            bound = result.get(term)
            if bound is None:
                allowed = types[term]
                if allowed is not None and value not in allowed:
                    return None
                if result is binding:
                    result = dict(binding)
                result[term] = value
            elif bound != value:
                return None
        return result

    def again(self, node: int, method: Method, children: tuple[int, ...]) -> SubtaskMatch:
        line = self._tree.line(node)
        binding = self.bind(method, {}, method.args, line.args)
        for subtask, child in zip(method.network.subtasks, children, strict=True):
            assert binding is not None
            binding = self.bind(method, binding, subtask.args, self._tree.line(child).args)
        assert binding is not None
        return SubtaskMatch(children, binding)

    def _types_of(self, method: Method) -> dict[str, Mapping[str, object] | None]:
        types = self._types.get(method.name)
        if types is None:
            task = self._task
            types = self._types[method.name] = {
                p.name: None if p.types == ("object",) else task.members(p.types)
                for p in method.parameters
            }
        return types

    def _in_sequence(self, children: Sequence[int]) -> bool:
        first, last = self._tree.first, self._tree.last
        ordered = sorted(children, key=first.__getitem__)
        if any(last[child] < 0 for child in children):
            return False
        return all(last[a] < first[b] for a, b in pairwise(ordered))

    def _one(
        self,
        method: Method,
        sequence: Sequence[int],
        children: Sequence[int],
        start: dict[str, str],
    ) -> SubtaskMatch | None:
        subtasks, tree = method.network.subtasks, self._tree
        placed = [0] * len(subtasks)
        binding = start
        for index, child in zip(sequence, children, strict=True):
            subtask, line = subtasks[index], tree.line(child)
            if subtask.name != line.name:
                return None
            bound = self.bind(method, binding, subtask.args, line.args)
            if bound is None:
                return None
            binding = bound
            placed[index] = child
        return SubtaskMatch(_one_of(tuple(placed), children), binding)

    def _search(self, method: Method, children: tuple[int, ...], start: dict[str, str]) -> Matches:
        count = len(children)
        if not count:
            return Matches((SubtaskMatch((), start),))
        search = _Search(self, method, children, self._tree, start)
        option_of = search.listed if self._strict else search.spread
        found: list[SubtaskMatch] = []
        trials = 0
        # The number of each level's next option, compactly: there is one level per subtask.
        options = array("q", [0])
        while options:
            option = option_of(options[-1])
            if option is None:
                options.pop()
                search.take_back()
                continue
            options[-1], chosen = option
            trials += 1
            search.choose(*chosen)
            if len(search.chosen) == count:
                found.append(search.match())
                search.take_back()
            else:
                options.append(0)
            if trials >= MOST_TRIALS or len(found) >= MOST_MATCHES:
                return Matches(tuple(found), False, True)
        return Matches(tuple(found), True, True)


class FoundMatches:
    """The matches of each node of a tree, recreated on access.

    A match takes several times as much memory as its lines. In large trees, only the assigned nodes
    are kept, and only if a search was necessary.
    """

    def __init__(
        self, matcher: SubtaskMatcher, tree: DecompositionTree, method_of: Mapping[int, Method]
    ) -> None:
        self._matcher = matcher
        self._method_of = method_of
        self._small = len(tree) < SMALL_TREE
        self._kept: dict[int, tuple[SubtaskMatch, ...]] = {}
        self._searched: dict[int, tuple[tuple[int, ...], ...]] = {}
        self.ambiguous = False

    def add(self, node: int, matches: Matches) -> None:
        if self._small:
            self._kept[node] = matches.found
        elif matches.searched:
            self._searched[node] = tuple([match.children for match in matches.found])
        self.ambiguous |= len(matches.found) > 1

    def __getitem__(self, node: int) -> tuple[SubtaskMatch, ...]:
        kept = self._kept.get(node)
        if kept is not None:
            return kept
        method, searched = self._method_of[node], self._searched.get(node)
        if searched is None:
            return self._matcher.matches(node, method).found
        return tuple([self._matcher.again(node, method, children) for children in searched])


def _one_of(children: tuple[int, ...], listed: Sequence[int]) -> tuple[int, ...]:
    return listed if isinstance(listed, tuple) and listed == children else children


_Choice = tuple[int, int, dict[str, str]]
"""A subtask, its node, and the resulting binding."""
_Option = tuple[int, _Choice]
"""The number of the next option, and a choice."""


class _Search:
    def __init__(
        self,
        matcher: SubtaskMatcher,
        method: Method,
        children: tuple[int, ...],
        tree: DecompositionTree,
        start: dict[str, str],
    ) -> None:
        self._matcher = matcher
        self._method = method
        self._tree = tree
        self._start = start
        self._listed = children
        self._by_time = sorted(children, key=tree.first.__getitem__)
        self._like = _alike(method)
        self._subtasks_of: dict[object, list[int]] = {}
        for index, subtask in enumerate(method.network.subtasks):
            ground = not any(arg[0] == "?" for arg in subtask.args)
            key = (subtask.name, subtask.args) if ground else subtask.name
            self._subtasks_of.setdefault(key, []).append(index)
        self._children_of: dict[object, list[int]] = {}
        for child in self._by_time:
            line = tree.line(child)
            for key in (line.name, (line.name, line.args)):
                self._children_of.setdefault(key, []).append(child)
        self.chosen: list[_Choice] = []
        self._child_of: dict[int, int] = {}
        self._used: set[int] = set()
        self._placed = 0

    def choose(self, subtask: int, child: int, binding: dict[str, str]) -> None:
        self.chosen.append((subtask, child, binding))
        self._child_of[subtask] = child
        self._used.add(child)
        self._placed |= 1 << subtask

    def take_back(self) -> None:
        if self.chosen:
            subtask, child, _ = self.chosen.pop()
            del self._child_of[subtask]
            self._used.discard(child)
            self._placed ^= 1 << subtask

    def match(self) -> SubtaskMatch:
        children = tuple(self._child_of[i] for i in range(len(self._child_of)))
        return SubtaskMatch(_one_of(children, self._listed), self.chosen[-1][2])

    def _fits(self, subtask: int, child: int) -> dict[str, str] | None:
        declared, line = self._method.network.subtasks[subtask], self._tree.line(child)
        if declared.name != line.name:
            return None
        binding = self.chosen[-1][2] if self.chosen else self._start
        return self._matcher.bind(self._method, binding, declared.args, line.args)

    def listed(self, begin: int) -> _Option | None:
        """Return the next option: a subtask that may come next, for the next task in the plan.

        The `begin` subtasks tried already are skipped, and the option begins with the number tried.
        """
        child = self._listed[len(self.chosen)]
        before = self._method.network.before
        line = self._tree.line(child)
        ground = self._subtasks_of.get((line.name, line.args), ())
        named = self._subtasks_of.get(line.name, ())
        for number, subtask in enumerate(islice(chain(ground, named), begin, None), begin + 1):
            if subtask in self._child_of or before[subtask] & ~self._placed:
                continue
            like = self._like[subtask]
            if like >= 0 and like not in self._child_of:
                continue
            binding = self._fits(subtask, child)
            if binding is not None:
                return number, (subtask, child, binding)
        return None

    def spread(self, begin: int) -> _Option | None:
        """Return the next option: a suitable task in the plan for the method's next subtask.

        Earlier tasks come first. The `begin` tasks tried already are skipped, and the option begins
        with the number tried.
        """
        network = self._method.network
        subtask = network.topological[len(self.chosen)]
        first, last = self._tree.first, self._tree.last
        earliest = max(
            (last[self._child_of[one]] for one in set_bits(network.before[subtask])), default=-1
        )
        declared = network.subtasks[subtask]
        ground = not any(arg[0] == "?" for arg in declared.args)
        key = (declared.name, declared.args) if ground else declared.name
        children = islice(self._children_of.get(key, ()), begin, None)
        for number, child in enumerate(children, begin + 1):
            if child in self._used or first[child] <= earliest:
                continue
            binding = self._fits(subtask, child)
            if binding is not None:
                return number, (subtask, child, binding)
        return None


def _alike(method: Method) -> list[int]:
    """Return, for each subtask, the last earlier one that is indistinguishable from it, or -1."""
    network = method.network
    count = len(network.subtasks)
    after = [0] * count
    for index, mask in enumerate(network.before):
        for one in set_bits(mask):
            after[one] |= 1 << index
    seen: dict[object, int] = {}
    like = []
    for index, subtask in enumerate(network.subtasks):
        key = (subtask.name, subtask.args, network.before[index], after[index])
        like.append(seen.get(key, -1))
        seen[key] = index
    return like


# Preconditions ------------------------------------------------------------------------------------
# Preconditions and constraints of methods over the states of a plan.

_Case = tuple[dict[str, str], Conjunction]
"""Values for the parameters that a match leaves open, and the precondition with them."""


class Preconditions:
    """Compiles preconditions of methods, and completes partial bindings of their parameters."""

    def __init__(self, task: Task) -> None:
        self._bounded: dict[tuple[str, tuple[str | None, ...]], tuple[_Case, ...] | None] = {}
        self._task = task
        self._templates: dict[str, Template | None] = {}
        self._names: dict[str, tuple[str, ...]] = {}
        self._cases: dict[tuple[str, tuple[str | None, ...]], tuple[_Case, ...]] = {}

    def cases(self, method: Method, binding: Mapping[str, str]) -> tuple[_Case, ...]:
        """Return the completions of a binding with which the precondition is satisfiable.

        Each is a pair of the added values and the compiled precondition.

        Raises:
            GroundingLimitError: There are too many completions.
        """
        names = self._names.get(method.name)
        if names is None:
            names = self._names[method.name] = tuple([p.name for p in method.parameters])
        key = method.name, tuple([binding.get(name) for name in names])
        cases = self._cases.get(key)
        if cases is None:
            cases = self._cases[key] = tuple(self._all_cases(method, binding))
        return cases

    def cases_up_to(
        self, method: Method, binding: Mapping[str, str], most: int
    ) -> tuple[_Case, ...] | None:
        """Return the completions of a binding like `cases`, or None if more than `most` exist."""
        key = method.name, tuple([binding.get(p.name) for p in method.parameters])
        if key not in self._bounded:
            found = tuple(islice(self._all_cases(method, binding), most + 1))
            self._bounded[key] = found if len(found) <= most else None
        return self._bounded[key]

    def mentioned(self, method: Method) -> set[str]:
        return names_in(method.precondition) | names_in(method.network.constraints)

    def _all_cases(self, method: Method, binding: Mapping[str, str]) -> Iterator[_Case]:
        for further in self._completions(method, binding):
            whole = {**binding, **further} if further else binding
            if not _equal(method.network.constraints, whole):
                continue
            condition = self._condition(method, whole)
            if condition is not ground.FALSE:
                yield further, condition

    def _completions(self, method: Method, binding: Mapping[str, str]) -> Iterator[dict[str, str]]:
        free = tuple([p for p in method.parameters if p.name not in binding])
        if not free:
            yield {}
            return
        mentioned = self.mentioned(method)
        idle: dict[str, str] = {}
        constrained: list[TypedName] = []
        for parameter in free:
            if parameter.name in mentioned:
                constrained.append(parameter)
                continue
            # Nothing constrains the parameter, so any object will do.
            value = next(iter(self._task.members(parameter.types)), None)
            if value is None:
                return
            idle[parameter.name] = value
        if not constrained:
            yield idle
            return
        body = And((method.network.constraints, method.precondition))
        instances = self._task.instances(tuple(constrained), body, True, dict(binding))
        for instance in instances:
            yield {**idle, **{p.name: instance[p.name] for p in constrained}}

    def _condition(self, method: Method, binding: Mapping[str, str]) -> Conjunction:
        if method.precondition == TRUE:
            return ground.TRUE
        name = method.name
        self._names.setdefault(name, tuple([p.name for p in method.parameters]))
        if name not in self._templates:
            schema = ActionSchema(name, method.parameters, method.precondition)
            self._templates[name] = template_of(self._task, schema)
        template = self._templates[name]
        if template is None:
            return self._task.condition(method.precondition, dict(binding))
        args = tuple([binding[parameter] for parameter in self._names[name]])
        return template.ground(GroundAction(name, args)).precondition


def holds(cases: tuple[_Case, ...], bits: int, values: Values) -> dict[str, str] | None:
    """Return values for unbound parameters that satisfy a precondition in a state, or None."""
    for further, condition in cases:
        if condition.holds(bits, values):
            return further
    return None


def open_formula(method: Method, match: SubtaskMatch) -> Formula:
    """Return the condition of a method, existentially quantified over its unbound parameters."""
    parts = [part for part in (method.network.constraints, method.precondition) if part != TRUE]
    body = parts[0] if len(parts) == 1 else And(tuple(parts))
    free = tuple([p for p in method.parameters if p.name not in match.binding])
    return Exists(free, body) if free else body


def _equal(part: Expression, binding: Mapping[str, str]) -> bool:
    return run_trampoline(_met(part, binding))


def _met(part: Expression, binding: Mapping[str, str]) -> Steps[bool]:
    if isinstance(part, Not):
        return not (yield _met(part.operand, binding))
    if isinstance(part, And):
        for operand in part.operands:
            if not (yield _met(operand, binding)):
                return False
        return True
    assert isinstance(part, Equal)
    left, right = binding.get(part.left, part.left), binding.get(part.right, part.right)
    return left == right


def names_in(formula: Expression) -> set[str]:
    """Return all names in a formula. A bound variable counts as the parameter that it shadows."""
    names: set[str] = set()
    for item in walk(formula):
        names.update(getattr(item, "args", ()))
        if isinstance(item, Equal):
            names |= {item.left, item.right}
        elif isinstance(item, Comparison):
            terms = (*functions_of(item.left), *functions_of(item.right))
            names.update(arg for term in terms for arg in term.args)
    return names


# Execution ----------------------------------------------------------------------------------------
# The states that a plan passes through.

State = tuple[int, Values]
_STRIDE, _BLOCKS = 32, 64


class PlanStates(Sequence[State]):
    """The states before and after each action of a plan, up to the first inapplicable action.

    A state has a bit for each fluent, so only every 32nd state is kept; the others are recomputed
    on access. `operator_of` returns the operator of the action with a given index.
    """

    def __init__(
        self, task: Task, operator_of: Callable[[int], Operator | Misfit], count: int
    ) -> None:
        self._task = task
        self._operator_of = operator_of
        state = task.initial.bits, task.initial.values
        self._kept = [state]
        self._blocks: dict[int, list[State]] = {}
        done = 0
        for done in range(count):
            after = _after(task, operator_of(done), *state)
            if after is None:
                break
            state = after
            if not (done + 1) % _STRIDE:
                self._kept.append(state)
        else:
            done = count
        self._length = done + 1
        self._last = state

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> State: ...
    @overload
    def __getitem__(self, index: slice) -> list[State]: ...
    def __getitem__(self, index: int | slice) -> State | list[State]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._length))]
        if index in (-1, self._length - 1):
            return self._last
        if not 0 <= index < self._length:
            raise IndexError(index)
        number, offset = divmod(index, _STRIDE)
        block = self._blocks.get(number)
        if block is None:
            if len(self._blocks) == _BLOCKS:
                del self._blocks[next(iter(self._blocks))]
            block = self._blocks[number] = self._again(number)
        return block[offset]

    def _again(self, number: int) -> list[State]:
        block = [self._kept[number]]
        first = number * _STRIDE
        for index in range(first, min(first + _STRIDE, self._length) - 1):
            after = _after(self._task, self._operator_of(index), *block[-1])
            assert after is not None
            block.append(after)
        return block


def _after(task: Task, operator: Operator | Misfit, bits: int, values: Values) -> State | None:
    if isinstance(operator, Misfit):
        return None
    try:
        if not operator.precondition.holds(bits, values):
            return None
        after = operator.apply(bits, values)
        if operator.numeric:
            values = operator.apply_numbers(bits, values)
    except (InconsistentEffectError, UndefinedValueError):
        return None
    return (task.close(after, values) if task.derived_predicates else after), values

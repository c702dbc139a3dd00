"""Correction without a language model: the plan that is meant by a draft, where it is worth it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, replace

from hvr.errors import UsageError
from hvr.judging.verifier.graph import START, PlanGraphDraft, PlanNode, Span, plan_graph
from hvr.judging.verifier.judgement.draft_reader import DraftReader, ReadDraft
from hvr.judging.verifier.judgement.judge import Judge
from hvr.judging.verifier.judgement.past_plans import Tools
from hvr.judging.verifier.judgement.posterior import difference
from hvr.tools.tool_plans import Tool, ToolPlan


@dataclass(frozen=True)
class Correction:
    """The correction of a draft.

    Args:
        plan: the corrected plan; the draft, its tools spelt as they are called, if nothing is
            better by enough.
        changes: in words, one for each step that changed.
        gain: expected gain in agreement with the true plan, 0 to 1.
    """

    plan: ToolPlan
    changes: tuple[str, ...]
    gain: float


def correct(judge: Judge, plans: Iterable[ToolPlan]) -> list[Correction]:
    """Return the plans that are meant by drafts.

    Names are spelt as the tools are called. Steps change only where such changes were a gain on
    plans that the judge had not seen (`ChangeRule`); a plan whose steps are no chain stays a graph.
    A plan without a verdict keeps its steps. An empty plan becomes the plan of the nearest request,
    unless the request is unlike all of them.
    """
    reader = DraftReader(judge.embeddings)
    return [_correct(judge, reader, plan) for plan in plans]


def _correct(judge: Judge, reader: DraftReader, plan: ToolPlan) -> Correction:
    if not plan.tools:
        return _from_nothing(judge, plan)
    read = _read(reader, plan)
    named = [
        f"{new} in place of {old}, which is not among the tools"
        for old, new in read.renamed.items()
    ]
    opinion = judge.opinion(read)
    if opinion is None:
        return Correction(read.plan, tuple(named), 0.0)
    if judge.unknown(read, opinion):
        return Correction(read.plan, tuple(named), 0.0)
    opinion = opinion.among(read.allows)
    if not judge.rule.allows(opinion):
        return Correction(read.plan, tuple(named), 0.0)
    tools = opinion.plans[opinion.best]
    made = rewritten(judge, read, tools)
    return Correction(made, (*named, *_changes(judge, read, tools)), opinion.gain)


def _read(reader: DraftReader, plan: ToolPlan) -> ReadDraft:
    try:
        return reader.read(plan)
    except UsageError:
        return reader.read(replace(plan, links=()))


def _from_nothing(judge: Judge, plan: ToolPlan) -> Correction:
    expected = judge.past.expect(plan.request)
    if judge.weights is None or expected.nearness < judge.far:
        return Correction(plan, (), 0.0)
    # Candidates for an empty draft are worse than the plan of the nearest request.
    nearest = judge.past.plans[int(expected.likeness.argmax())]
    tools = [judge.embeddings.tools.tools[t] for t in nearest]
    ids = tuple(t.id for t in tools)
    made = replace(
        plan, steps=tuple(map(call_step, tools)), tools=ids, links=tuple(itertools.pairwise(ids))
    )
    return Correction(made, ("the plan was empty",), 0.0)


def rewritten(judge: Judge, read: ReadDraft, tools: Tools) -> ToolPlan:
    """Return a plan in full; steps that are kept keep their text, and their links in a graph."""
    known = judge.embeddings.tools.tools
    plan = read.plan
    if not read.is_chain:
        return _regrafted(judge, read, tools)
    kept = {j: i for i, j in difference(read.tools, tools).pairs if read.tools[i] == tools[j]}
    steps = tuple(
        plan.steps[kept[j]] if j in kept and plan.steps else call_step(known[t])
        for j, t in enumerate(tools)
    )
    ids = tuple(known[t].id for t in tools)
    return replace(plan, steps=steps, tools=ids, links=tuple(itertools.pairwise(ids)))


def _regrafted(judge: Judge, read: ReadDraft, tools: Tools) -> ToolPlan:
    """Return a changed plan that keeps the graph of the draft around the changes."""
    known = judge.embeddings.tools.tools
    graph = PlanGraphDraft(plan_graph(read.plan, judge.embeddings.tools))
    keys = list(graph.sequence)
    place = {j: i for i, j in difference(read.tools, tools).pairs}
    before = START
    for j, number in enumerate(tools):
        node = PlanNode(known[number].id, call_step(known[number]))
        if j in place:
            before = keys[place[j]]
            if read.tools[place[j]] != number:
                graph.retool(before, node)
        else:
            out = graph.after(before) if before != START else ()
            target = out[0] if len(out) == 1 else None
            if before == START:
                target = graph.sequence[0]
            graph.insert(before, target, node)
            before = max(graph.nodes)
    for i, key in enumerate(keys):
        if i not in place.values():
            graph.cut(Span((key,), graph.before(key), graph.after(key)))
    return graph.finish()[0].plan()


def call_step(tool: Tool) -> str:
    """Return the text of a step that calls a tool: a sentence, whatever its description is."""
    about = " ".join(tool.description.replace("_", " ").split()).rstrip(".")
    if not about:
        return f"Call {tool.id}"
    first = about.split()[0]
    # Abbreviations keep their capitals.
    start = about[0].lower() if first[1:].islower() or len(first) == 1 else about[0]
    return f"Call {tool.id}: {start}{about[1:]}"


def _changes(judge: Judge, read: ReadDraft, tools: Tools) -> list[str]:
    names = [t.id for t in judge.embeddings.tools.tools]
    change = difference(read.tools, tools)
    from_draft = {j: i for i, j in change.pairs}
    said = []
    for j, tool in enumerate(tools):
        i = from_draft.get(j)
        if i is None:
            said.append(f"step {j + 1}: {names[tool]} was missing")
        elif read.tools[i] != tool:
            said.append(f"step {j + 1}: {names[tool]} in place of {names[read.tools[i]]}")
    kept = set(from_draft.values())
    said += [f"{names[t]} is not needed" for i, t in enumerate(read.tools) if i not in kept]
    if change.reordered:
        said.append("the steps are in another order")
    return said

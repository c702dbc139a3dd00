"""The judge of tool plans: how likely a plan fulfils its request, its risks, and a correction."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, astuple, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from hvr.base.files import digest, file_set_name, read_set
from hvr.errors import DataFileError, UsageError
from hvr.judging.verifier.features import Encoder, Floats, ToolEmbeddings
from hvr.judging.verifier.graph import START, PlanGraph, PlanGraphDraft, PlanNode, Span, plan_graph
from hvr.judging.verifier.judgement.draft_reader import (
    DraftReader,
    ReadDraft,
    StepTexts,
    TextModel,
    read_texts,
)
from hvr.judging.verifier.judgement.past_plans import PastPlans, Tools
from hvr.judging.verifier.judgement.posterior import (
    FEATURES,
    NO_TOOL,
    PlanOpinion,
    difference,
    form_opinion,
)
from hvr.judging.verifier.verdict import RiskFinding, Thresholds, Verdict
from hvr.judging.verifier.verifier import (
    VALUES,
    embeddings_of,
    head_of,
    read_tensors,
    read_values,
    tools_fingerprint,
    write,
)
from hvr.tools.tool_plans import Tool, ToolPlan

_MOST_CERTAIN = 7.0
"""Largest absolute logit, for probabilities of .001 to .999."""
_MENTIONED = 0.1
"""Minimum probability at which a missing tool is named."""


@dataclass(frozen=True)
class ChangeRule:
    """Minimum expected gains for changing a draft, chosen on held-out plans.

    Args:
        of_known: Minimum gain in agreement for replacing a draft that is itself a past plan.
        to_known: Minimum gain for replacing any other draft by a past plan.
        to_new: Minimum gain for replacing any other draft by a plan that is not a past plan.
    """

    of_known: float = math.inf
    to_known: float = math.inf
    to_new: float = math.inf

    def allows(self, opinion: PlanOpinion) -> bool:
        return opinion.best > 0 and opinion.gain >= getattr(self, kind_of_change(opinion))


def kind_of_change(opinion: PlanOpinion) -> str:
    """Return the field of `ChangeRule` that applies to replacing the draft by the best plan."""
    expected = opinion.expected
    if expected.times(opinion.draft) > 0:
        return "of_known"
    return "to_known" if expected.times(opinion.plans[opinion.best]) > 0 else "to_new"


@dataclass(frozen=True)
class PosteriorCalibration:
    """The calibration from a draft's posterior to its probability of being correct.

    Args:
        slope: Factor of the posterior's logit.
        intercept: Offset of the logit.
        incomplete: Weight of the deviation of `PlanOpinion.incomplete` from its mean.
        usual: Mean of `PlanOpinion.incomplete`.
    """

    slope: float = 1.0
    intercept: float = 0.0
    incomplete: float = 0.0
    usual: float = 0.0

    def logit(self, opinion: PlanOpinion) -> float:
        share = min(max(float(opinion.shares[0]), 1e-6), 1 - 1e-6)
        missing = self.incomplete * (opinion.incomplete - self.usual)
        return self.slope * math.log(share / (1 - share)) + self.intercept + missing


@dataclass(frozen=True)
class Judge:
    """A judge of plans, based on past plans for the same tools.

    Args:
        weights: Weights of the posterior's features; None if there are too few past plans.
        far: Similarity below which a request counts as unlike all past requests.
        texts: Weights that make the texts of steps evidence.
    """

    past: PastPlans
    weights: Floats | None
    calibration: PosteriorCalibration = field(default_factory=PosteriorCalibration)
    thresholds: Thresholds = field(default_factory=Thresholds)
    rule: ChangeRule = field(default_factory=ChangeRule)
    far: float = -1.0
    texts: TextModel = field(default_factory=TextModel)

    @property
    def embeddings(self) -> ToolEmbeddings:
        return self.past.embeddings

    def judge(self, plans: Iterable[ToolPlan]) -> list[Verdict]:
        """Judge plans, each independently of the others.

        A plan with an unknown tool is rejected. There is no verdict if past plans are too few, or
        if the request is unlike all past requests.

        Raises:
            UsageError: A plan is empty, or its links have a cycle.
        """
        reader = DraftReader(self.embeddings)
        return [self._verdict(reader.read(plan)) for plan in plans]

    def opinion(self, read: ReadDraft) -> PlanOpinion | None:
        """Return the posterior of a draft; None if there are too few past plans."""
        if self.weights is None:
            return None
        return form_opinion(self.past.expect(read.plan.request), read.tools, self.weights)

    def calibrated(self, opinion: PlanOpinion, more: float = 0.0) -> float:
        """Return the probability that a draft is correct; `more` is added to its log-odds."""
        logit = self.calibration.logit(opinion) + more
        return 1 / (1 + math.exp(-min(max(logit, -_MOST_CERTAIN), _MOST_CERTAIN)))

    def _verdict(self, read: ReadDraft) -> Verdict:
        graph = read.graph
        opinion = self.opinion(read)
        by_rule = tuple(
            RiskFinding(i, 1.0, f"{n.tool} is not among the tools; {called} {read.renamed[n.tool]}")
            for i, n in enumerate(graph.nodes)
            if n.tool in read.renamed
            for called in ("the nearest is" if n.tool in read.unknown else "it is called",)
        )
        if opinion is None:
            count = len(self.past)
            why = "" if by_rule else f"too few past plans to learn from ({count})"
            nodes = [float(any(f.where == i for f in by_rule)) for i in range(len(graph.nodes))]
            edges = (0.0,) * len(graph.all_edges)
            # Without fitted weights, only the rule can decide.
            score = 0.0 if by_rule else 0.5
            return Verdict(graph, score, tuple(nodes), edges, self.thresholds, by_rule, why)
        texts = self.step_texts(read)
        right = (
            0.0 if by_rule else self.calibrated(opinion, self.texts.order(texts) if texts else 0)
        )
        verdict = self._weighed(read, opinion, right, by_rule)
        return self._of_this_request(read, texts, verdict) if texts and not by_rule else verdict

    def step_texts(self, read: ReadDraft) -> StepTexts | None:
        """Return the words of a draft's steps; None if its steps have no text."""
        plan = read.plan
        if not plan.steps:
            return None
        return read_texts(self.embeddings, plan.request, zip(plan.tools, plan.steps, strict=True))

    def _of_this_request(self, read: ReadDraft, texts: StepTexts, verdict: Verdict) -> Verdict:
        """Lower a verdict's score if the steps seem to belong to a different request."""
        same = self.texts.same_request(texts)
        found = verdict.findings
        strange = [texts.strange(i) for i in range(len(texts.steps))]
        most = max(range(len(strange)), key=lambda i: len(strange[i]))
        if same < self.thresholds.graph and strange[most]:
            words = " and ".join(dict.fromkeys(strange[most]))
            reason = f"it mentions {words}, which the request does not"
            found = (RiskFinding(read.graph.order[most], 1 - same, reason), *found)
        return replace(verdict, score=same * verdict.score, findings=found)

    def _weighed(
        self, read: ReadDraft, opinion: PlanOpinion, score: float, by_rule: tuple[RiskFinding, ...]
    ) -> Verdict:
        graph, limits = read.graph, self.thresholds
        place = {node: i for i, node in enumerate(graph.order)}
        # Scale risks like the score, so that they add up to the probability of a fault.
        fault = max(1 - float(opinion.shares[0]), 1e-6)
        scale = 1.0 if by_rule else min((1 - score) / fault, 1 / fault)
        ruled = {f.where for f in by_rule}
        nodes = tuple(
            1.0 if i in ruled else min(scale * opinion.step_risks[place[i]], 1.0)
            for i in range(len(graph.nodes))
        )
        edges = tuple(
            min(scale * opinion.link_risk(None if a == START else place[a], place[b]), 1.0)
            for a, b in graph.all_edges
        )
        findings = [
            RiskFinding(i, risk, self._why_step(graph, opinion, i, place[i]))
            for i, risk in enumerate(nodes)
            if risk >= limits.node and i not in ruled
        ]
        findings += [
            RiskFinding(link, risk, self._why_link(graph, opinion, link, place))
            for link, risk in zip(graph.all_edges, edges, strict=True)
            if risk >= limits.edge
        ]
        findings += self._unfinished(graph, opinion, scale)
        ordered = sorted(findings, key=lambda f: -f.risk)
        unknown = self.unknown(read, opinion) if not by_rule else ""
        return Verdict(graph, score, nodes, edges, limits, (*by_rule, *ordered), unknown)

    def unknown(self, read: ReadDraft, opinion: PlanOpinion) -> str:
        """Return the reason why past plans cannot judge a draft; empty if they can.

        Corrections use the same test: a draft that cannot be judged stays unchanged.
        """
        if opinion.expected.nearness < self.far:
            return "the request is unlike all past requests"
        called = {tool for plan in self.past.plans for tool in plan}
        never = [t for t in read.tools if t not in called]
        if never:
            return f"no training plan calls {self._name(never[0])}"
        if len(read.tools) < self.past.shortest:
            return f"every training plan has at least {self.past.shortest} steps"
        return ""

    def _why_step(self, graph: PlanGraph, opinion: PlanOpinion, node: int, place: int) -> str:
        instead = opinion.instead[place]
        tool = max(instead, key=lambda t: (instead[t], -t))
        here = graph.nodes[node].tool
        if tool == NO_TOOL:
            return f"{here} does not seem to be needed for this request"
        return f"{self._name(tool)} seems to be meant rather than {here}"

    def _why_link(
        self, graph: PlanGraph, opinion: PlanOpinion, link: tuple[int, int], place: dict[int, int]
    ) -> str:
        first = None if link[0] == START else place[link[0]]
        missing = opinion.missing(first, place[link[1]])
        tool = max(missing, key=lambda t: (missing[t], -t), default=None)
        after = graph.nodes[link[1]].tool
        if tool is not None and missing[tool] >= _MENTIONED:
            where = "before" if link[0] == START else f"between {graph.nodes[link[0]].tool} and"
            return f"{self._name(tool)} seems to be missing {where} {after}"
        if link[0] == START:
            return f"plans for such requests seldom begin with {after}"
        return f"{after} seldom follows {graph.nodes[link[0]].tool} for such requests"

    def _unfinished(
        self, graph: PlanGraph, opinion: PlanOpinion, scale: float
    ) -> list[RiskFinding]:
        missing = opinion.missing(len(opinion.draft) - 1, None)
        risk = min(scale * sum(missing.values()), 1.0)
        if risk < self.thresholds.edge:
            return []
        tool = max(missing, key=lambda t: (missing[t], -t))
        last = graph.order[-1]
        reason = f"{self._name(tool)} seems to be missing after {graph.nodes[last].tool}"
        return [RiskFinding(last, risk, reason)]

    def _name(self, tool: int) -> str:
        return self.embeddings.tools.tools[tool].id


# Judge file ---------------------------------------------------------------------------------------

_KIND = "hvr plan judge"
_VERSION = 2


def save_judge(judge: Judge, folder: Path) -> None:
    """Write a judge to a folder atomically; a verifier in the folder is replaced."""
    from safetensors.numpy import save as to_bytes

    past = judge.past
    data = to_bytes({"requests": np.ascontiguousarray(past.vectors, np.float32)})
    values = {
        "kind": _KIND,
        "version": _VERSION,
        "requests": past.requests,
        "plans": past.plans,
        "weights": None
        if judge.weights is None
        else dict(zip(FEATURES, judge.weights.tolist(), strict=True)),
        "calibration": astuple(judge.calibration),
        "thresholds": asdict(judge.thresholds),
        "rule": {k: None if math.isinf(v) else v for k, v in asdict(judge.rule).items()},
        "far": judge.far,
        "texts": asdict(judge.texts),
        "tools_fingerprint": tools_fingerprint(judge.embeddings.tools),
        "tensors": digest(data),
    }
    text = json.dumps(values, ensure_ascii=False).encode()
    name = file_set_name("judge", digest(text), ".json")
    parts = {name: text, file_set_name("judge", digest(data), ".safetensors"): data}
    write(folder, judge.embeddings, {"judge": name}, parts)


def load_judge(folder: Path, encoder: Encoder | None = None) -> Judge:
    """Read a judge.

    Args:
        folder: Folder that `save_judge` wrote, or one of an earlier version with a network.
        encoder: Text encoder; by default the one named in the folder.
    """
    return read_set(folder / VALUES, lambda: _load(folder, encoder))


def _load(folder: Path, encoder: Encoder | None) -> Judge:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    head = head_of(folder)
    name = head.get("judge")
    if name is None:
        raise DataFileError(f"{folder} has no judge: train one")
    embeddings = embeddings_of(folder, head, encoder)
    values = read_values(folder / str(name), "judge", _KIND, _VERSION)
    if values.get("tools_fingerprint") != tools_fingerprint(embeddings.tools):
        raise DataFileError(f"the judge {folder} was trained with other tools: train it again")
    try:
        data = read_tensors(folder, "judge", str(values["tensors"]))
        requests = [str(r) for r in values["requests"]]
        embeddings.texts.know(requests, load(data)["requests"])
        return _judge(values, PastPlans(embeddings, requests, _plans(values, embeddings)))
    except (KeyError, TypeError, ValueError, AttributeError, SafetensorError) as error:
        reason = " ".join(str(error).split())[:200]
        raise DataFileError(f"the judge {folder} is damaged: {reason}") from error


def _plans(values: Mapping[str, Any], embeddings: ToolEmbeddings) -> list[tuple[int, ...]]:
    plans = [tuple(map(int, p)) for p in values["plans"]]
    if len(plans) != len(values["requests"]):
        raise ValueError("expected one plan for each request")
    if not all(0 <= tool < len(embeddings.tools) for plan in plans for tool in plan):
        raise ValueError("a plan has an unknown tool")
    return plans


def _judge(values: Mapping[str, Any], past: PastPlans) -> Judge:
    named = values["weights"]
    weights = None if named is None else np.array([named[n] for n in FEATURES], np.float32)
    calibration = PosteriorCalibration(*map(float, values["calibration"]))
    rule = {k: math.inf if v is None else float(v) for k, v in values["rule"].items()}
    limits = {k: float(v) for k, v in values["thresholds"].items()}
    saved = values["texts"]
    counts = tuple(map(float, saved["weights"]))
    texts = TextModel(counts, float(saved["backwards"]), float(saved["usual"]))
    far = float(values["far"])
    return Judge(past, weights, calibration, Thresholds(**limits), ChangeRule(**rule), far, texts)


# Corrector ----------------------------------------------------------------------------------------
# Correction without a language model: the most plausible plan, if the change is worthwhile.


@dataclass(frozen=True)
class Correction:
    """The correction of a draft.

    Args:
        plan: Corrected plan; the draft with corrected tool names if no change is worthwhile.
        gain: Expected gain in agreement with the true plan, from 0 to 1.
    """

    plan: ToolPlan
    changes: tuple[str, ...]
    gain: float


def correct(judge: Judge, plans: Iterable[ToolPlan]) -> list[Correction]:
    """Correct drafts.

    Tool names are corrected. Steps are changed only if such changes improved held-out plans
    (`ChangeRule`); a plan that is not a chain stays a graph. A plan without a verdict keeps its
    steps. An empty plan becomes the plan of the most similar request, unless the request is unlike
    all past requests.
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
    if opinion is None or judge.unknown(read, opinion):
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
    # For an empty draft, the nearest request's plan is better than the candidates.
    nearest = judge.past.plans[int(expected.likeness.argmax())]
    tools = [judge.embeddings.tools.tools[t] for t in nearest]
    ids = tuple(t.id for t in tools)
    made = replace(
        plan, steps=tuple(map(call_step, tools)), tools=ids, links=tuple(itertools.pairwise(ids))
    )
    return Correction(made, ("the plan was empty",), 0.0)


def rewritten(judge: Judge, read: ReadDraft, tools: Tools) -> ToolPlan:
    """Return a draft with new tools; kept steps keep their texts and, in a graph, their links."""
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
            # The inserted node has the highest key.
            before = max(graph.nodes)
    for i, key in enumerate(keys):
        if i not in place.values():
            graph.cut(Span((key,), graph.before(key), graph.after(key)))
    return graph.finish()[0].plan()


def call_step(tool: Tool) -> str:
    about = " ".join(tool.description.replace("_", " ").split()).rstrip(".")
    if not about:
        return f"Call {tool.id}"
    first = about.split()[0]
    # Abbreviations stay in capitals.
    start = about[0].lower() if first[1:].islower() or len(first) == 1 else about[0]
    return f"Call {tool.id}: {start}{about[1:]}"


def _changes(judge: Judge, read: ReadDraft, tools: Tools) -> list[str]:
    names = [t.id for t in judge.embeddings.tools.tools]
    change = difference(read.tools, tools)
    from_draft = {j: i for i, j in change.pairs}
    changes = []
    for j, tool in enumerate(tools):
        i = from_draft.get(j)
        if i is None:
            changes.append(f"step {j + 1}: {names[tool]} was missing")
        elif read.tools[i] != tool:
            changes.append(f"step {j + 1}: {names[tool]} in place of {names[read.tools[i]]}")
    kept = set(from_draft.values())
    changes += [f"{names[t]} is not needed" for i, t in enumerate(read.tools) if i not in kept]
    if change.reordered:
        changes.append("the steps are in a different order")
    return changes

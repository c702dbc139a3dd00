"""The table of commands, in the order of `hvr --help`.

An entry here registers a command: help, hints and completion are made from this table.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Any

from hvr.values import Value


class Command(Value):
    """A command.

    Its module is imported only when the command runs. For the command `list`, the module has the
    functions `add_list_arguments(parser)` and `run_list(args) -> int`, which returns the exit
    code.
    """

    name: str
    help: str
    module: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments to its parser."""
        self._function("add_{}_arguments")(parser)

    def run(self, args: argparse.Namespace) -> int:
        """Run the command and return the exit code."""
        code: int = self._function("run_{}")(args)
        return code

    def _function(self, pattern: str) -> Any:
        name = pattern.format(self.name.replace("-", "_"))
        return getattr(import_module(self.module), name)


class Group(Value):
    """Commands under one name. `usual` is the default command."""

    name: str
    help: str
    commands: tuple[Command | Group, ...]
    usual: str = ""


HVR = Group("hvr", "Household robot plans, proven before they run and watched while they run.", (
    Command("plan", "Plan a request, prove the plan, execute it step by step, and save the run.",
            "hvr.doors.cli.plan"),
    Command("solve", "Find a plan for any PDDL domain and problem, and prove it.",
            "hvr.doors.cli.solve"),
    Group("world", "Make, check and show worlds: folders with a domain, words and an "
          "environment.", (
        Command("new", "Make a world from a PDDL domain.", "hvr.doors.cli.world"),
        Command("check", "List every mismatch of a world's domain, words, tasks and environment.",
                "hvr.doors.cli.world"),
        Command("show", "Show the contents of a world: types, facts, actions, objects.",
                "hvr.doors.cli.world"),
    )),
    Command("problems", "Generate graded planning problems for training, with proven lengths.",
            "hvr.doors.cli.tasks"),
    Command("validate", "Validate PDDL plans; report at which step and why a plan fails.",
            "hvr.doors.cli.validate"),
    Command("check", "Check a certificate of hvr validate: does it prove its verdict?",
            "hvr.doors.cli.check"),
    Command("judge", "Judge a plan step by step: redundant and missing steps, with proofs.",
            "hvr.doors.cli.judge"),
    Command("lint", "Find suspicious parts of a PDDL domain and problem.", "hvr.doors.cli.lint"),
    Command("convert", "Print hierarchical plans in other formats; write a run as one.",
            "hvr.doors.cli.convert"),
    Command("tasks", "List the paper's tasks, with the scenes that fit.", "hvr.doors.cli.tasks"),
    Command("scenes", "List the scenes of all worlds.", "hvr.doors.cli.tasks"),
    Command("show", "Show a saved run: its plans, its steps, and all deviations.",
            "hvr.doors.cli.runs"),
    Group("kg", "Query, show, export and check the knowledge graph of a run or a scene.", (
        Command("query", "Answer a SPARQL query.", "hvr.doors.cli.kg"),
        Command("show", "Show everything known about one object.", "hvr.doors.cli.kg"),
        Command("export", "Write the graph as Turtle.", "hvr.doors.cli.kg"),
        Command("runs", "List the runs whose graphs are on a server.", "hvr.doors.cli.kg"),
        Command("publish", "Put the graph of a run on a server.", "hvr.doors.cli.kg"),
        Command("check", "Check the ontology for contradictions, optionally with the facts of a "
                "run or a scene.", "hvr.doors.cli.kg"),
    )),
    Group("llm", "Check that a language model answers; sum up what a run used.", (
        Command("check", "Check whether a model answers.", "hvr.doors.cli.llm"),
        Command("usage", "Sum up the calls, tokens, cost and time of a transcript by purpose.",
                "hvr.doors.cli.llm"),
    )),
    Group("library", "List, show, merge, export, import and cluster the macro actions that hvr "
          "has learnt.", (
        Command("list", "List the macro actions.", "hvr.doors.cli.library"),
        Command("show", "Show one macro action: conditions, block, where it was learnt, and its "
                "cluster.", "hvr.doors.cli.library"),
        Command("merge", "Merge other libraries into this one, without loss or duplicates.",
                "hvr.doors.cli.library"),
        Command("import", "Import a library that was exported elsewhere.",
                "hvr.doors.cli.library"),
        Command("export", "Write the library to another file, as Turtle or JSON.",
                "hvr.doors.cli.library"),
        Command("clusters", "Show clusters of equivalent macro actions, across agents.",
                "hvr.doors.cli.library"),
    )),
    Group("bench", "Plan tasks with models under the paper's settings, and measure the plans.", (
        Command("run", "Plan tasks with models under the paper's settings, and measure the plans.",
                "hvr.doors.cli.bench"),
        Command("show", "Show the results of a bench, finished or not, without running anything.",
                "hvr.doors.cli.bench"),
    ), usual="run"),
    Group("doctor", "Check what hvr can use on this machine.", (
        Command("machine", "Show what hvr can use on this machine, and what is broken.",
                "hvr.doors.cli.doctor"),
        Command("thor", "Check whether AI2-THOR can run here. Nothing is downloaded or started.",
                "hvr.doors.cli.doctor"),
    ), usual="machine"),
    Group("scene", "Draw a scene, or serve one to AI2-THOR's Python client.", (
        Command("show", "Draw the floor plan of a scene with its objects.",
                "hvr.doors.cli.scene"),
        Command("serve", "Stand in for Unity: AI2-THOR's Python client meets hvr's kitchen.",
                "hvr.doors.cli.scene"),
    )),
    Group("verify", "Score a plan: does it do what was asked? Which steps and links are risky, "
          "and why?", (
        Command("plan", "Score a plan; exit code 1 if it scores below the threshold.",
                "hvr.doors.cli.verify"),
        Command("train", "Train a verifier on correct plans over your tools.",
                "hvr.doors.cli.verify"),
        Command("correct", "Correct plans at their risky steps and links.",
                "hvr.doors.cli.verify"),
        Command("evaluate", "Measure how well a verifier separates correct plans from mutated "
                "ones.", "hvr.doors.cli.verify"),
    ), usual="plan"),
    Group("tools", "Worlds of tools: plan and run requests; find the tools for the steps of a "
          "plan.", (
        Command("plan", "Show the next move for a request to tools, and the cheapest chain of "
                "calls.", "hvr.doors.cli.tools.plan"),
        Command("run", "Carry out a request by calling tools, with monitoring and repair.",
                "hvr.doors.cli.tools.run"),
        Command("guard", "Guard an agent's tools, as an MCP server in front of another.",
                "hvr.doors.cli.tools.guard"),
        Command("import", "Read tools from function schemas, MCP, OpenAPI or Python, and match "
                "their parameters.", "hvr.doors.cli.tools.ingest"),
        Command("graph", "Draw the graph of tools and parameters, with success rates of calls.",
                "hvr.doors.cli.tools.graph"),
        Command("learn", "Learn from judged dialogues when to call, find, ask or answer.",
                "hvr.doors.cli.tools.graph"),
        Command("serve-stats", "Serve success rates, links and removed tools of a log, as page and "
                "JSON.", "hvr.doors.cli.tools.graph"),
        Command("retrieve", "Print the tools for the steps of a plan, in order.",
                "hvr.doors.cli.tools.retrieval"),
        Command("train", "Train a retriever on correct plans.", "hvr.doors.cli.tools.retrieval"),
        Command("evaluate", "Compare plans with the correct ones: node F1, link F1, both "
                "accuracies.", "hvr.doors.cli.tools.retrieval"),
    )),
    Command("completion", "Print a script that completes commands and options in a shell.",
            "hvr.doors.cli.completion"),
))  # fmt: skip
"""All commands."""

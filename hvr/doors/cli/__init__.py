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
        parser.description = self.help  # a command may replace it by a longer one
        self._function("add_{}_arguments")(parser)

    def run(self, args: argparse.Namespace) -> int:
        """Run the command and return the exit code."""
        code: int = self._function("run_{}")(args)
        return code

    def _function(self, pattern: str) -> Any:
        name = pattern.format(self.name.replace("-", "_"))
        return getattr(import_module(f"{__name__}.{self.module}"), name)


class Group(Value):
    """Commands under one name. `usual` is the default command."""

    name: str
    help: str
    commands: tuple[Command | Group, ...]
    usual: str = ""


HVR = Group("hvr", "Household robot plans, proven before they run and watched while they run.", (
    Command("plan", "Plan a request, prove the plan, execute it step by step, and save the run.",
            "plan"),
    Command("chat", "Talk with the robot in one scene: requests, questions, corrections, undo.",
            "chat"),
    Command("solve", "Find a plan for any PDDL domain and problem, and prove it.", "solve"),
    Group("world", "Make, check and show worlds: folders with a domain, words and an "
          "environment.", (
        Command("new", "Make a world from a PDDL domain.", "world"),
        Command("check", "List every mismatch of a world's domain, words, tasks and environment.",
                "world"),
        Command("show", "Show the contents of a world: types, facts, actions, objects.", "world"),
    )),
    Command("problems", "Generate graded planning problems for training, with proven lengths.",
            "tasks"),
    Group("export", "Write chat examples that teach a language model to plan.", (
        Command("sft", "Write chat examples for supervised tuning, with proven answers.", "export"),
    )),
    Command("validate", "Validate PDDL plans; report at which step and why a plan fails.",
            "validate"),
    Command("check", "Check a certificate of hvr validate: does it prove its verdict?", "check"),
    Command("judge", "Judge a plan step by step: redundant and missing steps, with proofs.",
            "judge"),
    Command("lint", "Find suspicious parts of a PDDL domain and problem.", "lint"),
    Command("mcp", "Serve validation, repair and planning to agents, as an MCP server.", "mcp"),
    Command("convert", "Print hierarchical plans in other formats; write a run as one.", "convert"),
    Command("tasks", "List the paper's tasks and harder ones, with the scenes that fit.", "tasks"),
    Command("scenes", "List the scenes of all worlds.", "tasks"),
    Command("show", "Show a saved run: its plans, its steps, and all deviations.", "runs"),
    Group("kg", "Query, show, export and check the knowledge graph of a run or a scene.", (
        Command("query", "Answer a SPARQL query.", "kg"),
        Command("show", "Show everything known about one object.", "kg"),
        Command("export", "Write the graph as Turtle.", "kg"),
        Command("runs", "List the runs whose graphs are on a server, newest first.", "kg"),
        Command("publish", "Put the graph of a run on a server.", "kg"),
        Command("check", "Check the ontology for contradictions, optionally with the facts of a "
                "run or a scene.", "kg"),
    )),
    Group("llm", "Check that a language model answers; sum up what a run used.", (
        Command("check", "Check whether a model answers.", "llm"),
        Command("usage", "Sum up the calls, tokens, cost and time of a transcript by purpose.",
                "llm"),
    )),
    Group("library", "List, show, merge, export, import and cluster the macro actions that hvr "
          "has learnt.", (
        Command("list", "List the macro actions.", "library"),
        Command("show", "Show one macro action: conditions, block, where it was learnt, and its "
                "cluster.", "library"),
        Command("merge", "Merge other libraries into this one, without loss or duplicates.",
                "library"),
        Command("import", "Import a library that was exported elsewhere.", "library"),
        Command("export", "Write the library to another file, as Turtle or (if named .json) as "
                "JSON.", "library"),
        Command("clusters", "Show clusters of equivalent macro actions, across agents.", "library"),
    )),
    Group("bench", "Plan tasks with models under the paper's settings, and measure the plans.", (
        Command("run", "Plan tasks with models under the paper's settings, and measure the plans.",
                "bench"),
        Command("show", "Show the results of a bench, finished or not, without running anything.",
                "bench"),
    ), usual="run"),
    Group("doctor", "Check what hvr can use on this machine.", (
        Command("machine", "Show what hvr can use on this machine, and what is broken.", "doctor"),
        Command("thor", "Check whether AI2-THOR can run here. Nothing is downloaded or started.",
                "doctor"),
    ), usual="machine"),
    Group("scene", "Draw a scene, or serve one to AI2-THOR's Python client.", (
        Command("show", "Draw the floor plan of a scene with its objects.", "scene"),
        Command("serve", "Stand in for Unity: AI2-THOR's Python client meets hvr's kitchen.",
                "scene"),
    )),
    Group("verify", "Score a plan: does it do what was asked? Which steps and links are risky, "
          "and why?", (
        Command("plan", "Score a plan; exit code 1 if it scores below the threshold.", "verify"),
        Command("train", "Train a verifier on correct plans over your tools.", "verify"),
        Command("correct", "Correct plans at their risky steps and links.", "verify"),
        Command("evaluate", "Measure how well a verifier separates correct plans from mutated "
                "ones.", "verify"),
    ), usual="plan"),
    Group("tools", "Worlds of tools: plan and run requests; find the tools for the steps of a "
          "plan.", (
        Command("plan", "Show the next move for a request to tools, and the cheapest chain of "
                "calls.", "tools.plan"),
        Command("run", "Carry out a request by calling tools, with monitoring and repair.",
                "tools.run"),
        Command("guard", "Guard an agent's tools, as an MCP server in front of another.",
                "tools.guard"),
        Command("import", "Read tools from function schemas, MCP, OpenAPI or Python, and match "
                "their parameters.", "tools.ingest"),
        Command("graph", "Draw the graph of tools and parameters, with success rates of calls.",
                "tools.graph"),
        Command("learn", "Learn from judged dialogues when to call, find, ask or answer.",
                "tools.graph"),
        Command("serve-stats", "Serve success rates, links and removed tools of a log, as page "
                "and JSON.", "tools.graph"),
        Command("retrieve", "Print the tools for the steps of a plan, in order.",
                "tools.retrieval"),
        Command("train", "Train a retriever on correct plans.", "tools.retrieval"),
        Command("evaluate", "Compare plans with the correct ones: node F1, link F1, both "
                "accuracies.", "tools.retrieval"),
    )),
    Command("studio", "Open hvr in a browser: edit, step through, repair and replay.", "studio"),
    Command("serve", "Serve hvr's operations by HTTP: validate, lint, plan, repair, judge, jobs.",
            "serve"),
    Command("lsp", "Serve PDDL, HDDL and plans to an editor, by the language server protocol.",
            "lsp"),
    Command("completion", "Print a script that completes commands and options in a shell.",
            "completion"),
))  # fmt: skip
"""All commands."""

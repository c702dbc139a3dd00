"""The model behind the local servers that answer the pages' requests.

It can make coffee, finds the missing step in a plan of tools, and answers "ready" otherwise.
"""

from __future__ import annotations

import json
import re

from tests.model_server import in_form, make_coffee, question
from tests.models.servers import Received, Reply

_LINK = re.compile(r"^edge_id (\d+) .*?(\d+): hotel_search ", re.MULTILINE)


class Answering:
    """Answers the requests of hvr's pages."""

    def __call__(self, asked: Received) -> Reply:
        link = _LINK.search(asked.text)
        if link is not None:
            edit = {"op": "insert_on_edge", "edge_id": int(link[1]), "candidate_id": int(link[2])}
            return Reply(json.dumps({"edits": [edit | {"step": "Look for a hotel"}]}))
        try:
            known = question(asked)
        except (AssertionError, KeyError, IndexError):
            return Reply("ready", usage={"input": 14, "output": 1})
        text = make_coffee(known).replace("countertop-2", "countertop-1")
        return Reply(in_form(known, text, asked.body))

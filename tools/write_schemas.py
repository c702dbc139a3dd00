"""Write the reference page of the operations, and the JSON Schemas that the tests compare.

python -m tools.write_schemas
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hvr.base.declared import json_schema
from hvr.doors.schema import OPERATIONS, ErrorAnswer

REPOSITORY = Path(__file__).parents[1]
PAGE = REPOSITORY / "docs/reference/operations.md"
SCHEMAS = REPOSITORY / "tests/doors/schemas.json"

_HEAD = """\
# Operations: requests and answers of hvr's interfaces

```sh
cp -r examples/blocks . && cd blocks
hvr validate domain.pddl problem.pddl plans/short.txt --json
```

[The MCP server](../how-to/mcp.md) and [the HTTP service](../how-to/http_service.md) take these
requests and return these answers; `--json` prints the same answers.

Requests and answers are JSON objects. Members of a request in bold are required. `domain`,
`problem`, `plan` and `tools` are texts; instead, `domain_file`, `problem_file`, `plan_file` and
`tools_file` name a file below the served folder (`--root`). The last column names the type of the
answer. Each answer also has the integer `schema_version`, which grows when a member changes its
meaning or disappears; new members may appear at any time. The documentation site, and
`/openapi.json` of the HTTP service, describe all members. `python -m tools.write_schemas` writes
this page from the declared types.
"""


def schemas() -> dict[str, Any]:
    found: dict[str, Any] = {
        name: {"request": one.request_schema(), "answer": one.answer_schema()}
        for name, one in OPERATIONS.items()
    }
    return {**found, "error": json_schema(ErrorAnswer)}


def page(*, members_too: bool = False) -> str:
    """Return the reference page; the site's version also describes all members."""
    lines, requests, answers = [_HEAD], dict[str, str](), dict[str, Any]()
    lines += ["| operation | effect | request | answer |", "| --- | --- | --- | --- |"]
    for operation in OPERATIONS.values():
        request, answer = operation.request_schema(), operation.answer_schema()
        answers |= answer.get("$defs", {}) | {operation.answer.__name__: answer}
        requests |= {row: name for name, row in _rows(request)}
        names = ", ".join(_names(request))
        answered = operation.answer.__name__
        link = _type({"$ref": answered}) if members_too else answered
        lines += [f"| `{operation.name}` | {operation.summary} | {names} | {link} |"]
    answers["ErrorAnswer"] = json_schema(ErrorAnswer)
    if not members_too:
        return "\n".join(lines) + "\n"
    rows = sorted(requests, key=lambda row: (requests[row], row))
    lines += ["", "## Members of requests", "", "`text?` means text or null.", "", *_HEADING, *rows]
    lines += ["", "## Types of answers", "", *_HEADING]
    for name, schema in sorted(answers.items()):
        lines += [f'| <a id="{name.lower()}"></a>**{name}** | | {schema["description"]} |']
        lines += [row for _, row in _rows(schema)]
    return "\n".join(lines) + "\n"


_HEADING = ("| member | type | meaning |", "| --- | --- | --- |")


def _names(schema: dict[str, Any]) -> Iterator[str]:
    members = schema["properties"]
    for name in members:
        if name.removesuffix("_file") == name or name.removesuffix("_file") not in members:
            yield f"**`{name}`**" if name in schema["required"] else f"`{name}`"


def _rows(schema: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, one in schema.get("properties", {}).items():
        if name == "schema_version":  # described once, at the top of the page
            continue
        default = f" Default: `{json.dumps(one['default'])}`." if "default" in one else ""
        constant = f"Always `{one['enum'][0]}`." if len(one.get("enum", ())) == 1 else ""
        said = one.get("description", constant) + default
        yield name, f"| `{name}` | {_type(one)} | {said.replace('|', chr(92) + '|')} |"


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        kinds = [_type(one) for one in schema["anyOf"] if one != {"type": "null"}]
        return f"{' or '.join(kinds)}{'?' * (len(kinds) < len(schema['anyOf']))}"
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    kinds = schema.get("type", "any value")
    if isinstance(kinds, list):
        named = " or ".join(_type({"type": kind}) for kind in kinds if kind != "null")
        return f"{named}{'?' * ('null' in kinds)}"
    if kinds == "array" and "items" in schema and schema["items"]:
        return f"list of {_type(schema['items'])}"
    if kinds == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_type(schema['additionalProperties'])}"
    return str(kinds).replace("array", "list").replace("string", "text")


def main() -> None:
    """Write both files."""
    PAGE.write_text(page(), encoding="utf-8")
    SCHEMAS.write_text(json.dumps(schemas(), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

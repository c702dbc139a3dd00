"""Write the reference page of the operations, and the JSON Schemas that the tests compare.

python -m tools.write_schemas
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hvr.base.declared import json_schema
from hvr.doors.schema import OPERATIONS, ErrorAnswer, Operation

REPOSITORY = Path(__file__).parents[1]
PAGE = REPOSITORY / "docs/reference/operations.md"
SCHEMAS = REPOSITORY / "tests/doors/schemas.json"

_HEAD = """\
# Operations: requests and answers of hvr's interfaces

```sh
cp -r examples/blocks . && cd blocks
hvr validate domain.pddl problem.pddl plans/short.txt --json
```

[The MCP server](../how-to/mcp.md) takes these requests and gives these answers; `--json` prints
the same answers. `python -m tools.write_schemas` writes this page from `hvr/doors/schema.py`.

A request contains a text or the name of its file: `domain` is PDDL text, `domain_file` a path below
the served folder. Members with a default may be left out. Each answer also has the integer
`schema_version`, which grows when a member changes its meaning or disappears; new members may
appear at any time. A type that ends in `?` may be null. Types with a capital letter are described
at the end.
"""


def schemas() -> dict[str, Any]:
    """Return the JSON Schemas of all requests and answers."""
    found: dict[str, Any] = {
        name: {"request": one.request_schema(), "answer": one.answer_schema()}
        for name, one in OPERATIONS.items()
    }
    return {**found, "error": json_schema(ErrorAnswer)}


def page() -> str:
    """Return the reference page."""
    lines, parts = [_HEAD], dict[str, Any]()
    for operation in OPERATIONS.values():
        lines += _section(operation)
        parts |= operation.answer_schema().get("$defs", {})
    error = json_schema(ErrorAnswer)
    lines += ["## Errors", "", error["description"], "", *_table(error), ""]
    lines += ["## Parts of answers", ""]
    for name, part in sorted(parts.items()):
        lines += [f"### {name}", "", part["description"], ""]
        lines += [*_table(part), ""] if "properties" in part else []
    return "\n".join(lines).rstrip() + "\n"


def _section(operation: Operation) -> Iterator[str]:
    yield from (f"## {operation.name}", "", operation.summary, "", "Request:", "")
    yield from _table(operation.request_schema())
    answer = operation.answer_schema()
    yield from ("", f"Answer: {answer['description'][0].lower()}{answer['description'][1:]}", "")
    yield from _table(answer)
    yield ""


def _table(schema: dict[str, Any]) -> Iterator[str]:
    yield "| member | type | meaning |"
    yield "| --- | --- | --- |"
    for name, one in schema["properties"].items():
        if name == "schema_version":  # described once, at the top of the page
            continue
        default = f" Default: `{json.dumps(one['default'])}`." if "default" in one else ""
        said = f"{one.get('description', '')}{default}".strip().replace("|", "\\|")
        optional = "" if name in schema["required"] or default else " Optional."
        yield f"| `{name}` | {_type(one)} | {said}{optional} |"


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

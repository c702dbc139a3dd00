"""Whatever a file contains, the command that reads it answers, or explains the fault in one line.

The rows are in `file_roles.py`: each is a file read by one command.
"""

from __future__ import annotations

import copy
import importlib.util
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.command_line import Ended, Hvr
from tests.doors.cli.file_roles import ROLES, Role, fill

# Importing torch_geometric warns.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

ANYTHING: dict[str, bytes] = {
    "nothing": b"",
    "spaces": b" \n\t\r\n",
    "zeros": b"\0" * 64,
    "all bytes": bytes(range(256)),
    "UTF-16": "{}\n".encode("utf-16"),
    "Latin-1": b'{"\xe9": "\xe9"}\n',
    "a word": b"x",
    "a long word": b"x" * 1_000_000,
    "deep lists": b"[" * 100_000 + b"]" * 100_000,
    "deep objects": b'{"a":' * 1_000 + b"1" + b"}" * 1_000,
    "somewhat deep": b"[" * 150 + b"]" * 150,
    "deep parentheses": b"(" * 100_000 + b")" * 100_000,
    "open parentheses": b"(" * 100_000,
    "digits": b"9" * 5_000,
    "no number": b'{"a": NaN, "b": 1e999}',
    "null": b"null",
    "a list": b"[]",
    "an object": b"{}",
    "a text": b'"text"',
    "twice": b'{"a": 1, "a": 2}',
    "half a pair": b'{"a": "\\ud800"}',
    "aliases": b"a: &a [x, x]\nb: &b [*a, *a]\n",
    "separators": '"\u2028"\u2028\x85'.encode(),
    "escapes": b"\x1b[31m\x07\x1b]0;x\x07",
}
FEW = ("all bytes", "deep lists", "an object")
DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "half of it": lambda data: data[: len(data) // 2],
    "twice over": lambda data: data * 2,
    "a NUL in it": lambda data: data[: len(data) // 2] + b"\0" + data[len(data) // 2 :],
    "a deep rest": lambda data: data + b"[" * 10_000,
}
LINE_ENDS: dict[str, Callable[[bytes], bytes]] = {
    "a byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "Windows": lambda data: data.replace(b"\n", b"\r\n"),
    "an old Mac": lambda data: data.replace(b"\n", b"\r"),
    "no last line end": lambda data: data.removesuffix(b"\n"),
}
# Lint and validate quote lines of PDDL texts.
MANY_LINES = (".pddl", "plan")
ODD: list[Any] = [
    None, True, -1, 0, 3.5, 1e308, 10**30, "", "x", "\ud800", "a\u2028b", [], [[]], {}, {"a": 1},
]  # fmt: skip


@pytest.fixture(params=ROLES, ids=str)
def role(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Role:
    """A role; the test works in a folder with its files."""
    given_role: Role = request.param
    if given_role.needs and importlib.util.find_spec(given_role.needs) is None:
        pytest.skip(f"needs {given_role.needs}")
    for name in [name for name in os.environ if name.startswith("HVR_LLM")]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    fill(tmp_path, given_role)
    monkeypatch.chdir(tmp_path)
    if given_role.file.endswith(".safetensors"):
        # The content determines the name.
        file = Path(given_role.file)
        (tensors,) = file.parent.glob(f"{file.stem}-*{file.suffix}")
        given_role = replace(given_role, file=tensors.as_posix())
    return given_role


def call(hvr_: Hvr, role: Role, content: bytes) -> Ended:
    """Run the command on this content, starting from the same files each time."""
    for made in ("new", "page.html", "other.ttl"):
        if Path(made).is_dir():
            shutil.rmtree(made)
        Path(made).unlink(missing_ok=True)
    Path(role.file).write_bytes(content)
    return hvr_(*role.command)


def check(role: Role, ended: Ended, what: str) -> None:
    place = f"{role} with {what}: {ended.err[-500:]}"
    # A verifier may have no verdict.
    assert ended.code in ((0, 1, 2, 4) if role.words.startswith("verify") else (0, 1, 2)), place
    assert "Traceback" not in ended.err, place
    if ended.code == 2:
        names = [part.split(".")[0] for part in Path(role.file).parts]
        assert any(name in ended.out + ended.err for name in names), place
        if not role.file.endswith(MANY_LINES) and not ended.out:
            # A recording without the prompt shows the difference from the recorded prompts.
            lines = [
                line for line in ended.err.strip("\n").split("\n") if not line.startswith("  ")
            ]
            assert len(lines) == 1 and lines[0].startswith("error: "), place


@pytest.mark.slow
def test_any_content_gets_an_answer_or_a_line(role: Role, hvr_: Hvr) -> None:
    valid = Path(role.file).read_bytes()
    # A fifth of the contents for each role; other roles have the other fifths.
    some = [*FEW, *list(ANYTHING)[len(str(role)) % 5 :: 5]]
    for what in FEW if role.dear else dict.fromkeys(some):
        check(role, call(hvr_, role, ANYTHING[what]), what)
    for what, damaged in list(DAMAGE.items())[len(role.words) % 2 :: 2]:
        check(role, call(hvr_, role, damaged(valid)), what)


@pytest.mark.slow
def test_line_ends_and_a_byte_order_mark_change_nothing(role: Role, hvr_: Hvr) -> None:
    if role.own:
        return
    valid = Path(role.file).read_bytes()
    plain = call(hvr_, role, valid)
    what = "Windows" if role.dear else list(LINE_ENDS)[len(str(role)) % 4]
    assert call(hvr_, role, LINE_ENDS[what](valid)) == plain, what


@pytest.mark.slow
@settings(max_examples=3, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_json_of_another_shape_gets_an_answer_or_a_line(
    role: Role, hvr_: Hvr, data: st.DataObject
) -> None:
    if role.dear or not role.file.endswith((".json", ".jsonl")):
        return
    kept = Path("valid").exists()
    if not kept:
        shutil.copy(role.file, "valid")
    lines = Path("valid").read_text(encoding="utf-8").rstrip("\n").split("\n")
    if not role.file.endswith(".jsonl"):
        lines = ["\n".join(lines)]
    number = data.draw(st.integers(0, min(len(lines), 9) - 1))
    lines[number] = json.dumps(changed(json.loads(lines[number]), data))
    check(role, call(hvr_, role, "\n".join(lines).encode()), lines[number][:2000])


def changed(value: Any, data: st.DataObject) -> Any:
    """Return the value with one part replaced or removed."""
    path = data.draw(st.sampled_from(list(paths(value))))
    odd = data.draw(st.sampled_from(ODD))
    if not path:
        return odd
    whole = inner = copy.deepcopy(value)
    for key in path[:-1]:
        inner = inner[key]
    if data.draw(st.booleans()):
        inner[path[-1]] = odd
    else:
        del inner[path[-1]]
    return whole


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict):
        for key, part in value.items():
            yield from paths(part, (*path, key))
    elif isinstance(value, list):
        for number, part in enumerate(value[:5]):
            yield from paths(part, (*path, number))

"""Text files: line endings are equivalent, and an unusable file is explained in one sentence."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hvr.base.texts import (
    MAX_DEPTH,
    decode,
    parse_json,
    read_bytes,
    read_json,
    read_json_lines,
    read_log,
    read_text,
    read_toml,
    read_yaml,
)
from hvr.errors import DataFileError, HvrError
from tests.extras import needs

needs("yaml")

READERS: dict[str, Callable[[Path], Any]] = {
    "text": read_text,
    "json": read_json,
    "json of programs": lambda path: read_json(path, strict=False),
    "json lines": read_json_lines,
    "log": read_log,
    "toml": read_toml,
    "yaml": read_yaml,
}
WAYS: dict[str, Callable[[bytes], bytes]] = {
    "a byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "Windows": lambda data: data.replace(b"\n", b"\r\n"),
    "an old Mac": lambda data: data.replace(b"\n", b"\r"),
    "all of it": lambda data: b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n"),
    "no last line end": lambda data: data.removesuffix(b"\n"),
}
VALID = {
    "text": "a\nb é",
    "json": '{\n"a": [1,\n2.5, null, "é\u2028x"]\n}\n',
    "json of programs": '[\nNaN, "\\ud800"]\n',
    "json lines": '{"a": 1}\n\n[2, "\u2028\x85"]\n',
    "log": '{"a": 1}\n[2, "\u2028"]\n',
    "toml": 'a = 1\n[b]\nc = """x\ny"""\n',
    "yaml": "a: 1\nb:\n  - é\n  - [x, 2]\n",
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("form", READERS)
def test_line_ends_and_a_byte_order_mark_make_no_difference(
    form: str, way: str, tmp_path: Path
) -> None:
    plain, other = tmp_path / "plain", tmp_path / "other"
    plain.write_bytes(VALID[form].encode())
    other.write_bytes(WAYS[way](plain.read_bytes()))
    assert repr(READERS[form](other)) == repr(READERS[form](plain))


@pytest.mark.slow
@given(JSON, st.sampled_from(list(WAYS)))
def test_any_json_is_read_as_it_was_meant(value: Any, way: str) -> None:
    text = json.dumps(value, indent=1, ensure_ascii=False) + "\n"
    assert parse_json(decode(WAYS[way](text.encode()), "name")) == value


@pytest.mark.slow
@given(st.sampled_from(list(READERS)), st.binary() | st.text().map(str.encode) | JSON.map(
    lambda value: json.dumps(value).encode()))  # fmt: skip
@example("log", b"\xff")
@example("yaml", b"!!timestamp x")
@example("yaml", b"2020-13-45")
@example("yaml", b"!!bool x")
def test_any_bytes_are_read_or_refused_in_a_line(
    tmp_path_factory: pytest.TempPathFactory, form: str, data: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(data)
    try:
        READERS[form](path)
    except DataFileError as error:
        assert str(path) in str(error) and "\n" not in str(error)


@pytest.mark.parametrize("deep", [60, MAX_DEPTH + 1, 450, 950, 100_000])
@pytest.mark.parametrize("form", ["json", "json of programs", "json lines", "yaml"])
def test_deep_values_are_refused_before_anything_breaks_on_them(
    form: str, deep: int, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_text("[" * deep + "]" * deep)
    if deep < MAX_DEPTH:
        READERS[form](path)
        return
    for text in ("[" * deep + "]" * deep, "[" * deep, '{"a":' * deep + "1" + "}" * deep):
        path.write_text(text)
        with pytest.raises(DataFileError) as caught:
            READERS[form](path)
        assert len(str(caught.value)) < 500
        assert "nested" in str(caught.value) or text == "[" * deep


@pytest.mark.parametrize("deep", [1_000, 100_000])
def test_deep_toml_is_refused(deep: int, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("a = " + "[" * deep + "]" * deep)
    with pytest.raises(DataFileError, match="nested"):
        read_toml(path)


@pytest.mark.parametrize(
    ("form", "data", "says"),
    [
        ("json", b'{"a":\n x}', ":2:2: not valid JSON"),
        ("json", b"", "expected a JSON value, found nothing"),
        ("json", b'{"a": {"b": 1, "b": 2}}', "duplicate name 'b' in an object"),
        ("json", b'{"speed": [NaN]}', "'speed' must be a finite number, got nan"),
        ("json", b'{"speed": 1e999}', "'speed' must be a finite number, got inf"),
        ("json", b'{"speed": ' + b"9" * 400 + b"}", "'speed' is an integer too large"),
        ("json", b'{"speed": ' + b"9" * 5000 + b"}", "a number has too many digits"),
        ("json", b'{"a": "x\\udc00"}', "unpaired surrogate"),
        ("json", b'{"\\udc00": 1}', "unpaired surrogate"),
        ("json", "{}".encode("utf-16"), "expected UTF-8, found UTF-16 or UTF-32"),
        ("json", "{}".encode("utf-32"), "expected UTF-8, found UTF-16 or UTF-32"),
        ("json", "{}".encode("utf-16-le"), ":1: found a NUL character"),
        ("json", b'{"a":\r\n "\xe9"}', ":2:3: the byte 0xe9 is not UTF-8"),
        ("text", b"\xef\xbb\xbfab\rc\xff", ":2:2: the byte 0xff is not UTF-8"),
        ("json lines", b"{}\n{]\n", ":2:2: not valid JSON"),
        ("json lines", b"{}\n[NaN]\n", ":2: this JSON cannot be used"),
        ("log", b"{}\n{]\n{}\n", ":2:2: not valid JSON"),
        ("toml", b"a = 1\nb = \n", ": not valid TOML"),
        ("toml", b"a = 1\na = 2\n", ": not valid TOML"),
        ("toml", b"a = " + b"9" * 5000, "too many digits"),
        ("yaml", b"a: 1\nb: [\n", ":3:1: not valid YAML"),
        ("yaml", b"a: 1\na: 2\n", "duplicate name 'a'"),
        ("yaml", b"a: &x [1, 1]\nb: &y [*x, *x]\n", ":2:8: not valid YAML (the alias *x"),
        ("yaml", b"a: !!python/object/apply:os.getcwd []", "not valid YAML"),
        ("yaml", b"a: .nan", "'a' must be a finite number, got nan"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_place(
    form: str, data: bytes, says: str, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(DataFileError) as caught:
        READERS[form](path)
    assert str(path) in str(caught.value) and says in str(caught.value)
    assert "\n" not in str(caught.value) and caught.value.exit_code == 2


def test_what_is_no_file_is_said(tmp_path: Path) -> None:
    for path, says in (
        (tmp_path / "none", "no such file"),
        (tmp_path, "it is a folder"),
        (Path("a\0b"), "null byte"),
    ):
        with pytest.raises(DataFileError, match=says) as caught:
            read_bytes(path)
        assert str(caught.value).isprintable()


@pytest.mark.skipif(not Path("/dev/zero").is_char_device(), reason="there is no such device here")
def test_a_device_without_end_is_not_read_to_its_end() -> None:
    with pytest.raises(DataFileError, match="it is a device"):
        read_bytes(Path("/dev/zero"))
    assert read_bytes(Path(os.devnull)) == b""


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read all")
def test_a_file_that_must_not_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("x")
    path.chmod(0)
    with pytest.raises(DataFileError, match="Permission denied"):
        read_text(path)


def test_a_last_line_that_was_cut_off_is_left_out_of_a_log(tmp_path: Path) -> None:
    path = tmp_path / "log"
    whole = '{"a": "é"}\n{"b": "é\u2028"}\n'.encode()
    for end in range(len(whole) + 1):
        path.write_bytes(whole[:end])
        number = whole[:end].count(b"\n") + (whole[end:] == b"\n" or whole[end - 1 : end] == b"}")
        values = [value for _, value in read_log(path)]
        assert values == [{"a": "é"}, {"b": "é\u2028"}][: min(number, 2)]


@given(st.text(), st.binary(max_size=30))
def test_decoding_gives_what_it_was_given_or_says_why_not(text: str, data: bytes) -> None:
    for given_ in (text.encode("utf-8", "surrogatepass"), data):
        try:
            assert "\r" not in decode(given_, "name")
        except HvrError as error:
            assert str(error).startswith("name:")

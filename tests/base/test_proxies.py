"""Selection of the proxy for a request."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hvr.base.proxies import is_loopback, proxy_of


@pytest.fixture(autouse=True)
def _proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http", "https", "all", "no"):
        monkeypatch.delenv(f"{name}_proxy", raising=False)
        monkeypatch.delenv(f"{name.upper()}_PROXY", raising=False)
    monkeypatch.setenv("HTTP_PROXY", "http://user:secret@proxy.example:3128")
    monkeypatch.setenv("ALL_PROXY", "proxy.example:1080")


@given(st.integers(0, 2**24 - 1), st.sampled_from([str, hex]))
def test_all_of_127_is_this_machine_however_it_is_written(rest: int, write: object) -> None:
    assert callable(write)
    number = 127 * 2**24 + rest
    dotted = ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))
    assert is_loopback(dotted) and is_loopback(write(number)) and is_loopback(f"::ffff:{dotted}")


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST.", "a.localhost", "127.1", "::1", "[::1]", "0.0.0.0", "::", "::1%lo"],
)
def test_names_of_this_machine(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host",
    ["", "example.org", "notlocalhost", "localhost.evil.org", "128.0.0.1", "10.0.0.1", "fe80::1"],
)
def test_names_of_other_machines(host: str) -> None:
    assert not is_loopback(host)


def test_this_machine_is_never_reached_through_a_proxy() -> None:
    for host in ("localhost:8000", "127.0.0.1:8000", "[::1]:8000", "127.9.9.9"):
        assert proxy_of(f"http://{host}/v1") is None


def test_a_proxy_is_named_with_its_variable_and_without_its_password() -> None:
    assert (
        str(proxy_of("http://gpu:8000/v1")) == "the proxy http://proxy.example:3128 of HTTP_PROXY"
    )
    assert str(proxy_of("https://gpu/v1")) == "the proxy http://proxy.example:1080 of ALL_PROXY"


@pytest.mark.parametrize(
    ("exempt", "direct"),
    [("gpu", True), ("*", True), ("other", False), ("10.0.0.0/8", True), ("10.0.0.0/99, x", False)],
)
def test_no_proxy_is_kept(exempt: str, direct: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", exempt)
    host = "10.1.2.3" if "10." in exempt else "gpu"
    assert (proxy_of(f"http://{host}:8000/v1") is None) is direct

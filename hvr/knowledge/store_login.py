"""How a store is shown who asks: a token, or a name and a password, Basic or Digest (RFC 7616)."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Self
from urllib.request import (
    AbstractDigestAuthHandler,
    HTTPPasswordMgrWithDefaultRealm,
    Request,
    parse_http_list,
    parse_keqv_list,
)

USER, PASSWORD, TOKEN = "HVR_STORE_USER", "HVR_STORE_PASSWORD", "HVR_STORE_TOKEN"
"""Variables of the environment with what a server wants to be shown."""

_ALGORITHMS = ("MD5", "SHA", "SHA-256")


@dataclass(frozen=True)
class Login:
    """What a server may be shown; nothing for a server that asks nobody.

    Args:
        user: a name; empty for none.
        password: what goes with it.
        token: instead of both.
    """

    user: str = ""
    password: str = field(default="", repr=False)
    token: str = field(default="", repr=False)

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> Self:
        """Read it from the variables of an environment."""
        token = environment.get(TOKEN, "")
        if token:
            return cls(token=token)
        return cls(environment.get(USER, ""), environment.get(PASSWORD, ""))

    @property
    def plain(self) -> str:
        """The value of the header Authorization without a challenge; empty for none."""
        if self.token:
            return f"Bearer {self.token}"
        if self.user:
            return f"Basic {b64encode(f'{self.user}:{self.password}'.encode()).decode()}"
        return ""


class Answers:
    """Answers the challenges of one server, and goes on with the last one.

    Args:
        login: what it may be shown.
        unasked: whether it is shown at once, in plain; a server that wants Digest should never
            see the password.
    """

    def __init__(self, login: Login, *, unasked: bool = True) -> None:
        self._login = login
        self._unasked = unasked
        self._challenge: dict[str, str] = {}
        self._passwords = HTTPPasswordMgrWithDefaultRealm()
        self._digest = AbstractDigestAuthHandler(self._passwords)

    def header(self, method: str, url: str) -> dict[str, str]:
        """Return the header that a request is to have, if any.

        Args:
            method: of the request.
            url: the whole address.
        """
        if not self._challenge:
            value = self._login.plain if self._unasked or self._login.token else ""
        else:
            self._passwords.add_password(None, url, self._login.user, self._login.password)
            request = Request(url, method=method)
            said = self._digest.get_authorization(request, self._challenge)
            value = f"Digest {said}" if said else ""
        return {"Authorization": value} if value else {}

    def challenged(self, challenges: Iterable[str]) -> bool:
        """Take note of what a server wants, of its headers WWW-Authenticate.

        Returns:
            Whether it is something that there is an answer to.
        """
        if not self._login.user:
            return False
        for text in challenges:
            scheme, _, rest = text.partition(" ")
            if scheme.lower() == "digest":
                challenge = parse_keqv_list(parse_http_list(rest))
                ways = challenge.get("qop", "auth").replace(" ", "").split(",")
                if challenge.get("algorithm", "MD5") in _ALGORITHMS and "auth" in ways:
                    self._challenge = (
                        {**challenge, "qop": "auth"} if "qop" in challenge else challenge
                    )
                    return True
            elif scheme.lower() == "basic" and not self._unasked:
                self._unasked = True
                return True
        return False

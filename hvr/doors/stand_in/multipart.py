"""The body of a post to the client, in the subset that its own parser understands."""

from __future__ import annotations

_BOUNDARY = b"hvr-stand-in-7c1f3a0e5b9d42868f26d0c4a1e7b953"

CONTENT_TYPE = f"multipart/form-data; boundary={_BOUNDARY.decode('ascii')}"
"""The header of the post."""


def body(metadata: bytes, token: str, image: bytes | None) -> bytes:
    """Return the parts of one event.

    The spelling `Content-disposition` and a `Content-Type` in every part are what the parser
    looks for.

    Args:
        metadata: JSON.
        token: of the client.
        image: RGB bytes, or None.
    """
    parts = [
        _part(b"metadata", b"text/plain; charset=utf-8", metadata),
        _part(b"token", b"text/plain; charset=utf-8", token.encode("utf-8")),
    ]
    if image is not None:
        parts.append(_part(b'image"; filename="image', b"image/raw-rgb", image))
    return b"".join(parts) + b"--" + _BOUNDARY + b"--\r\n"


def _part(name: bytes, content_type: bytes, content: bytes) -> bytes:
    return (
        b"--" + _BOUNDARY + b"\r\n"
        b"Content-Type: " + content_type + b"\r\n"
        b'Content-disposition: form-data; name="' + name + b'"\r\n\r\n' + content + b"\r\n"
    )

"""Files that the service sends, such as Word exports."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from urllib.parse import unquote_to_bytes

import httpx

from ._errors import ApiConnectionError


class Download:
    """
    A file. Its content can be read once, by one of the methods.

    Reading it to the end closes the connection. If you do not read it, call `close()` or use `with`.
    """

    name: str
    """The name that the service proposes, without folders."""
    media_type: str
    """Media type."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self.name = parse_file_name(response.headers.get("content-disposition", "")) or "download"
        self.media_type = response.headers.get("content-type", "application/octet-stream")

    def stream(self) -> Iterator[bytes]:
        """Yield the content in parts. Raises an `ApiConnectionError` if the connection breaks."""
        if self._response.is_stream_consumed:
            raise RuntimeError("The content of a download can be read once. Keep it, or request the file again.")
        try:
            yield from self._response.iter_bytes()
        except httpx.RequestError as error:
            message = "The connection broke before the file was complete. Request it again."
            raise ApiConnectionError(message) from error
        finally:
            self.close()

    def read(self) -> bytes:
        """Return the content."""
        return b"".join(self.stream())

    def text(self) -> str:
        """Return the content as text, which is UTF-8."""
        return self.read().decode()

    def save(self, path: str | os.PathLike[str]) -> Path:
        """
        Write the content to a file and return its path.

        If `path` is a folder, the file gets its proposed name there. The file is only replaced when it is complete.
        """
        target = Path(path)
        if target.is_dir():
            target /= self.name
        draft = target.with_name(f".{secrets.token_hex(8)}.part")
        try:
            with draft.open("xb") as file:
                for part in self.stream():
                    file.write(part)
            draft.replace(target)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        return target

    def close(self) -> None:
        """Close the connection. The rest of the content is lost."""
        self._response.close()

    def __enter__(self) -> Download:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def parse_file_name(header: str) -> str | None:
    """Return the file name of a `Content-Disposition` header (RFC 6266), without folders; None if it is not safe."""
    extended = re.search(r";\s*filename\*=utf-8''([^;]+)", header, re.IGNORECASE)
    quoted = re.search(r';\s*filename="((?:[^"\\]|\\.)*)"', header, re.IGNORECASE)
    plain = re.search(r';\s*filename=([^\s";]+)', header, re.IGNORECASE)
    name = _decode(extended[1]) if extended else None
    if name is None and quoted:
        name = re.sub(r"\\(.)", r"\1", quoted[1])
    if name is None and plain:
        name = plain[1]
    name = re.sub(r"^.*[/\\]", "", name or "", flags=re.DOTALL)
    return None if name in ("", ".", "..") or re.search(r"[\x00-\x1f\x7f-\x9f]", name) else name


def _decode(text: str) -> str | None:
    try:
        return unquote_to_bytes(text.strip()).decode()
    except UnicodeDecodeError:
        return None

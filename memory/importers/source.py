"""Files as streams of bytes: plain, gzip and zip, told apart by their first bytes, always read in pieces.

A zip gives one source for each member. What is inside a source is the matter of `detect`.
"""

from __future__ import annotations

import codecs
import gzip
import io
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO, Final

from memory.importers.records import Unreadable

HEAD_BYTES: Final = 256 * 1024
"""How much of a source is looked at to tell its format."""

DAMAGED: Final = (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError, NotImplementedError)
"""What the standard library raises when an archive lies about its contents."""

Watch = Callable[[int], None]
"""Is told how many bytes were just read."""

_GZIP: Final = b"\x1f\x8b"
_ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
_WIDE: Final = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


@dataclass(frozen=True, slots=True)
class Source:
    """One readable text. `open` starts anew from its beginning, as UTF-8 without a byte order mark."""

    name: str
    open: Callable[[], BinaryIO]

    def head(self) -> bytes:
        with self.open() as stream:
            return stream.read(HEAD_BYTES)


def weight(path: Path) -> int:
    """How many bytes `watch` will hear of: those on the disk, for a zip those of its members unpacked."""
    try:
        with zipfile.ZipFile(path) as archive:
            return sum(entry.file_size for entry in archive.infolist())
    except DAMAGED:
        return path.stat().st_size


def sources(path: Path, watch: Watch | None = None) -> Iterator[Source | Unreadable]:
    """The texts in a file: itself, unpacked where it is gzip, or the members of a zip."""
    with path.open("rb") as stream:
        start = stream.read(4)
    if start in _ZIP:
        yield from _members(path, watch)
    elif start[:2] == _GZIP:
        name = path.name.removesuffix(".gz")
        yield Source(name, lambda: _even(_buffered(gzip.GzipFile(fileobj=_watched(path.open("rb"), watch)))))
    else:
        yield Source(path.name, lambda: _even(_watched(path.open("rb"), watch)))


def _members(path: Path, watch: Watch | None) -> Iterator[Source | Unreadable]:
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except DAMAGED as error:
        yield Unreadable(path.name, f"a damaged zip ({error})")
        return
    for entry in entries:
        if entry.is_dir() or entry.filename.startswith("__MACOSX/"):
            continue
        if entry.flag_bits & 0x1:
            yield Unreadable(entry.filename, "is encrypted")
        else:
            yield Source(entry.filename, _opener(path, entry.filename, watch))


def _opener(path: Path, member: str, watch: Watch | None) -> Callable[[], BinaryIO]:
    def opened() -> BinaryIO:
        with zipfile.ZipFile(path) as archive:  # an open member keeps the file until it is closed itself
            stream = _buffered(_watched(archive.open(member), watch))
        if stream.peek(2)[:2] == _GZIP:
            stream = _buffered(gzip.GzipFile(fileobj=stream))
        return _even(stream)

    return opened


def _watched(stream: BinaryIO | IO[bytes], watch: Watch | None) -> BinaryIO:
    return _buffered(_Watched(stream, watch)) if watch else stream  # type: ignore[return-value]


def _buffered(stream: object) -> io.BufferedReader:
    return io.BufferedReader(stream)  # type: ignore[arg-type]


def _even(stream: BinaryIO) -> BinaryIO:
    """Without a byte order mark, and UTF-8 where the mark says that it was UTF-16."""
    buffered = stream if isinstance(stream, io.BufferedReader) else _buffered(stream)
    start = buffered.peek(3)
    if start.startswith(codecs.BOM_UTF8):
        buffered.read(3)
    elif encoding := _WIDE.get(start[:2]):
        return _buffered(_Recoded(buffered, encoding))
    return buffered


class _Watched(io.RawIOBase):
    """Tells how many bytes went by."""

    def __init__(self, stream: BinaryIO | IO[bytes], watch: Watch) -> None:
        self._stream, self._watch = stream, watch

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        piece = self._stream.read(len(view))
        view[: len(piece)] = piece
        self._watch(len(piece))
        return len(piece)

    def close(self) -> None:
        self._stream.close()
        super().close()


class _Recoded(io.RawIOBase):
    """A stream of another encoding as UTF-8; what does not decode becomes the replacement character."""

    def __init__(self, stream: BinaryIO, encoding: str) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        while not self._ready:
            piece = self._stream.read(64 * 1024)
            text = self._decoder.decode(piece, final=not piece)
            self._ready = text.encode("utf-8", "replace")
            if not piece and not self._ready:
                return 0
        size = min(len(view), len(self._ready))
        view[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

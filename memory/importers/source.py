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

from memory.importers.packed import opened as opened_member
from memory.importers.records import Unreadable, Unusable

HEAD_BYTES: Final = 256 * 1024
"""How much of a source is looked at to tell its format."""

DAMAGED: Final = (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError, NotImplementedError)
"""What the standard library raises when an archive lies about its contents."""

Watch = Callable[[int], None]
"""Is told how many bytes were just read."""

MOST_MEMBERS: Final = 1_000
"""Of a zip."""

_MOST_LISTED: Final = 4 * 1024 * 1024
"""Bytes of a zip's table of contents: it is held in memory before its members can be counted."""
_SIZE_LISTED: Final = 5
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
        with _archive(path) as archive:
            return sum(entry.file_size for entry in archive.infolist())
    except (Unusable, *DAMAGED):
        return path.stat().st_size


def sources(path: Path, watch: Watch | None = None, most: int | None = None) -> Iterator[Source | Unreadable]:
    """The texts in a file: itself, unpacked where it is gzip, or the members of a zip.

    Raises `Unusable`, also while a source is read, where all that was unpacked is more than `most` bytes, or a zip has
    too many members.
    """
    unpacked = None if most is None else _Unpacked(most)
    with path.open("rb") as stream:
        start = stream.read(4)
    if start in _ZIP:
        yield from _members(path, watch, unpacked)
    elif start[:2] == _GZIP:
        name = path.name.removesuffix(".gz")
        yield Source(name, lambda: _even(_gunzipped(_watched(path.open("rb"), watch), unpacked)))
    else:
        yield Source(path.name, lambda: _even(_watched(path.open("rb"), watch)))


class _Unpacked:
    """Counts what came out of an archive: a few bytes of one can unpack to any size."""

    def __init__(self, most: int) -> None:
        self._most, self._seen = most, 0

    def __call__(self, size: int) -> None:
        self._seen += size
        if self._seen > self._most:
            raise Unusable(f"the file unpacks to more than {self._most // 1024**2} MiB; split it")


def _archive(path: Path) -> zipfile.ZipFile:
    """A zip that is not too large to be listed. Raises `Unusable`, or what is `DAMAGED`."""
    with path.open("rb") as stream:
        end = zipfile._EndRecData(stream)  # type: ignore[attr-defined]  # what ZipFile itself goes by
    archive = None if end and end[_SIZE_LISTED] > _MOST_LISTED else zipfile.ZipFile(path)
    if archive is None or sum(not entry.is_dir() for entry in archive.infolist()) > MOST_MEMBERS:
        raise Unusable(f"{path.name}: a zip may hold {MOST_MEMBERS:,} files; split it")
    return archive


def _members(path: Path, watch: Watch | None, unpacked: Watch | None) -> Iterator[Source | Unreadable]:
    try:
        archive = _archive(path)  # closed with the last source that can be opened
    except DAMAGED as error:
        yield Unreadable(path.name, f"a damaged zip ({error})")
        return
    for entry in archive.infolist():
        if entry.is_dir() or entry.filename.startswith("__MACOSX/"):
            continue
        if entry.flag_bits & 0x1:
            yield Unreadable(entry.filename, "is encrypted")
        else:
            yield Source(entry.filename, _opener(archive, entry, watch, unpacked))


def _opener(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, watch: Watch | None, unpacked: Watch | None
) -> Callable[[], BinaryIO]:
    def opened() -> BinaryIO:
        stream = _buffered(_watched(_watched(opened_member(archive, entry), watch), unpacked))
        if stream.peek(2)[:2] == _GZIP:
            stream = _gunzipped(stream, unpacked)
        return _even(stream)

    return opened


def _gunzipped(stream: BinaryIO, unpacked: Watch | None) -> io.BufferedReader:
    return _buffered(_watched(gzip.GzipFile(fileobj=stream), unpacked))  # type: ignore[arg-type]


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

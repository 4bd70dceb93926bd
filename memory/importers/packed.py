"""Members of a zip that are packed with bzip2 or LZMA, unpacked in pieces of a bounded size.

`zipfile` bounds a piece of the usual method only: 4 KiB of bzip2 can stand for gigabytes, and would be unpacked whole.
"""

from __future__ import annotations

import bz2
import copy
import io
import lzma
import zipfile
import zlib
from typing import IO, Final, Protocol

PIECE: Final = 256 * 1024
"""Bytes that are unpacked at once, at most."""
MOST_WINDOW: Final = 64 * 1024 * 1024
"""Bytes. How far LZMA may look back: that much is kept in memory while it unpacks."""
PACKED: Final = frozenset({zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA})

_READ: Final = 16 * 1024
_LZMA_HEAD: Final = 4
_PROPERTIES: Final = 5


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def needs_input(self) -> bool: ...

    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


def opened(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> IO[bytes]:
    """The member as a stream. What is damaged raises `BadZipFile`, also while it is read."""
    if entry.compress_type not in PACKED:
        return archive.open(entry)
    raw = copy.copy(entry)
    raw.compress_type, raw.file_size, raw.CRC = zipfile.ZIP_STORED, entry.compress_size, None  # type: ignore[assignment]
    packed = archive.open(raw)  # as it lies in the file
    made = _bzip2() if entry.compress_type == zipfile.ZIP_BZIP2 else _lzma(packed)
    return io.BufferedReader(_Unpacking(packed, made, entry))


def _bzip2() -> _Decompressor:
    return bz2.BZ2Decompressor()


def _lzma(packed: IO[bytes]) -> _Decompressor:
    """By what stands before the data: two bytes of a version, the length of the properties, and these."""
    head = packed.read(_LZMA_HEAD + _PROPERTIES)
    if len(head) < _LZMA_HEAD + _PROPERTIES or head[2:_LZMA_HEAD] != b"\x05\x00":
        raise zipfile.BadZipFile("its LZMA header is damaged")
    window = int.from_bytes(head[_LZMA_HEAD + 1 :], "little")
    if window > MOST_WINDOW:
        raise zipfile.BadZipFile(f"its LZMA window is larger than {MOST_WINDOW // 1024**2} MiB; pack it anew")
    rest, packing = divmod(head[_LZMA_HEAD], 9)
    positions, literals = divmod(rest, 5)
    if positions > 4:
        raise zipfile.BadZipFile("its LZMA header is damaged")
    filters = [
        {
            "id": lzma.FILTER_LZMA1,
            "dict_size": max(window, 4096),
            "lc": packing,
            "lp": literals,
            "pb": positions,
        }
    ]
    try:
        return lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=filters)
    except lzma.LZMAError as error:
        raise zipfile.BadZipFile(f"its LZMA header is damaged ({error})") from None


class _Unpacking(io.RawIOBase):
    """The member's text, at most `PIECE` bytes of it at a time, and no more than the zip says it has."""

    def __init__(self, packed: IO[bytes], made: _Decompressor, entry: zipfile.ZipInfo) -> None:
        self._packed, self._made = packed, made
        self._left, self._crc, self._seen_crc = entry.file_size, entry.CRC, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        if not view or not self._left:
            return 0
        piece = self._piece(min(len(view), self._left, PIECE))
        self._left -= len(piece)
        self._seen_crc = zlib.crc32(piece, self._seen_crc)
        if not self._left and self._seen_crc != self._crc:
            raise zipfile.BadZipFile("its checksum is wrong")
        view[: len(piece)] = piece
        return len(piece)

    def _piece(self, most: int) -> bytes:
        while not self._made.eof:
            given = self._packed.read(_READ) if self._made.needs_input else b""
            if self._made.needs_input and not given:
                break
            try:
                piece = self._made.decompress(given, most)
            except (OSError, lzma.LZMAError, ValueError) as error:
                raise zipfile.BadZipFile(str(error)) from None
            if piece:
                return piece
        raise zipfile.BadZipFile("it ends early")

    def close(self) -> None:
        self._packed.close()
        super().close()

"""The file of a backup: a ZIP whose parts are stored as they are, the manifest last.

The list of a ZIP stands at its end, so that a file that was cut off is none.  It is written beside its name and
renamed when it is whole and on disk.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Final
from zipfile import ZIP_STORED, BadZipFile, ZipFile

from memgov.backups.errors import BackupError, of_file
from memgov.backups.manifest import Manifest, Member, parse

DUMP, CHECKPOINTS, MANIFEST = "database.dump", "audit-checkpoints.jsonl", "manifest.json"
CHUNK: Final = 1 << 20
_MANIFEST_BYTES: Final = 4 << 20
Progress = Callable[[int, int], None]


class Writing:
    """A backup being written; it takes its name in `finish`, and goes away when that is not reached."""

    def __init__(self, path: Path) -> None:
        self._path, self._part = path, path.with_name(f"{path.name}.part")
        self._members: dict[str, Member] = {}
        self._done = False

    def __enter__(self) -> Writing:
        try:
            # What a killed backup left is taken over; what a living one writes is locked.
            descriptor = os.open(self._part, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            self._file = os.fdopen(descriptor, "r+b")
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._file.truncate()
        except BlockingIOError:
            self._file.close()
            raise BackupError(f"another backup writes {self._path} just now") from None
        except OSError as error:
            raise of_file(error, self._path) from None
        self._zip = ZipFile(self._file, "w", ZIP_STORED)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._done:
            self._part.unlink(missing_ok=True)
            self._zip.fp = None  # it would write its list at the end of its life, to a disk that may be full
        self._file.close()

    def add(self, name: str, chunks: Iterator[bytes]) -> None:
        """One part, as its bytes come.  Raises `BackupError` when they cannot be kept."""
        digest, length = hashlib.sha256(), 0
        with self._told(), self._zip.open(name, "w", force_zip64=True) as member:
            for chunk in chunks:
                member.write(chunk)
                digest.update(chunk)
                length += len(chunk)
        self._members[name] = Member(length, digest.hexdigest())

    def finish(self, about: Manifest, secret: str) -> Manifest:
        """Add the manifest, bring everything to the disk, and give the file its name."""
        whole = Manifest(
            about.made_at, about.version, about.postgres, about.tenants, about.migrations, self._members
        ).sealed(secret)
        with self._told():
            self._close(whole)
        self._done = True
        return whole

    def _close(self, whole: Manifest) -> None:
        self._zip.writestr(MANIFEST, whole.to_json())
        self._zip.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._part.replace(self._path)
        folder = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What the system refuses, in words."""
        try:
            yield
        except OSError as error:
            raise of_file(error, self._path) from None


class Reading:
    """A backup to read.  Everything about it that is wrong is a `BackupError` naming the file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file: IO[bytes] = path.open("rb")
        except OSError as error:
            raise of_file(error, path) from None
        try:
            self._zip = ZipFile(self._file)
            self.manifest = self._parsed()
        except BackupError as error:
            self._file.close()
            raise BackupError(f"{path}: {error}") from None
        except (BadZipFile, OSError, ValueError, NotImplementedError):
            self._file.close()
            raise BackupError(
                f"{path} is no whole backup: it was cut off, or is a file of another kind"
            ) from None

    def __enter__(self) -> Reading:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def check(self, secret: str, progress: Progress) -> None:
        """Read everything once: every part must be what the manifest says, and the manifest what was sealed."""
        about = self.manifest
        if about.key_is(secret) and not about.holds(secret):
            raise BackupError(f"{self.path} was changed after it was made: its seal does not fit")
        total, done = sum(member.bytes for member in about.members.values()), 0
        for name in about.members:
            for chunk in self.chunks(name):
                done += len(chunk)
                progress(done, total)

    def chunks(self, name: str) -> Iterator[bytes]:
        """One part; raises `BackupError` at its end when it was not what the manifest says."""
        said, digest, length = self.manifest.members[name], hashlib.sha256(), 0
        try:
            with self._zip.open(name) as member:
                while chunk := member.read(CHUNK):
                    digest.update(chunk)
                    length += len(chunk)
                    yield chunk
        except (BadZipFile, OSError, EOFError, KeyError, NotImplementedError, RuntimeError):
            raise BackupError(f"{self.path} is damaged: {name} cannot be read") from None
        if (length, digest.hexdigest()) != (said.bytes, said.sha256):
            raise BackupError(f"{self.path} is damaged: {name} is not what was written")

    def _parsed(self) -> Manifest:
        infos = {info.filename: info for info in self._zip.infolist()}
        plain = all(info.compress_type == ZIP_STORED for info in infos.values())
        if (
            not plain
            or set(infos) != {DUMP, CHECKPOINTS, MANIFEST}
            or len(infos) != len(self._zip.infolist())
        ):
            raise BackupError("it is no backup of memgov")
        if infos[MANIFEST].file_size > _MANIFEST_BYTES:
            raise BackupError("its manifest is too long")
        about = parse(self._zip.read(MANIFEST))
        if set(about.members) != {DUMP, CHECKPOINTS}:
            raise BackupError("its manifest names other parts than it has")
        return about

"""Files that are uploaded: written to disk piece by piece, never held in memory, and refused beyond a size."""

from __future__ import annotations

from typing import Any, Final, NoReturn

from django.core.files.uploadhandler import FileUploadHandler, SkipFile, StopUpload
from django.http import HttpRequest

from memory.services.transfer_files import Incoming

_BESIDE: Final = 64 * 1024
"""Bytes for what else is in a form."""


class ToDisk(FileUploadHandler):
    """Takes the first file of a form and passes over others; `incoming` is None where there was none, `too_large` says
    that it was refused. Fields before the file are read all the same."""

    def __init__(self, request: HttpRequest, most: int) -> None:
        super().__init__(request)
        self._most = most
        self.incoming: Incoming | None = None
        self.name = ""
        self.too_large = False
        self._announced = 0

    def handle_raw_input(
        self, input_data: Any, META: Any, content_length: int, boundary: str, encoding: str | None = None
    ) -> None:
        self._announced = content_length

    def new_file(self, field_name: str, file_name: str, *args: Any, **kwargs: Any) -> None:
        super().new_file(field_name, file_name, *args, **kwargs)
        if self._announced > self._most + _BESIDE:
            self._refuse()  # before a byte of it is on the disk
        if self.incoming is not None:
            raise SkipFile
        self.incoming, self.name = Incoming(), file_name[:200]

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        assert self.incoming is not None  # `new_file` came before
        if self.incoming.size + len(raw_data) > self._most:
            self._refuse()
        self.incoming.write(raw_data)

    def _refuse(self) -> NoReturn:
        self.too_large = True
        self.discard()
        raise StopUpload(connection_reset=False)

    def file_complete(self, file_size: int) -> None:
        return None  # it is not handed on as a file of Django's

    def discard(self) -> None:
        """Take what came away, unless a service kept it."""
        if self.incoming is not None:
            self.incoming.discard()

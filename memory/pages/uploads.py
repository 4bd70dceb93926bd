"""Files that are uploaded: written to disk piece by piece, never held in memory, and refused beyond a size."""

from __future__ import annotations

from typing import Any

from django.core.files.uploadhandler import FileUploadHandler, StopUpload
from django.http import HttpRequest

from memory.services.transfer_files import Incoming


class ToDisk(FileUploadHandler):
    """Takes the first file of a form; `incoming` is None where there was none, `too_large` says that it was refused."""

    def __init__(self, request: HttpRequest, most: int) -> None:
        super().__init__(request)
        self._most = most
        self.incoming: Incoming | None = None
        self.name = ""
        self.too_large = False

    def new_file(self, field_name: str, file_name: str, *args: Any, **kwargs: Any) -> None:
        super().new_file(field_name, file_name, *args, **kwargs)
        if self.incoming is None:
            self.incoming, self.name = Incoming(), file_name[:200]

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        assert self.incoming is not None  # `new_file` came before
        if self.incoming.size + len(raw_data) > self._most:
            self.too_large = True
            self.discard()
            raise StopUpload(connection_reset=False)
        self.incoming.write(raw_data)

    def file_complete(self, file_size: int) -> None:
        return None  # it is not handed on as a file of Django's

    def discard(self) -> None:
        """Take what came away, unless a service kept it."""
        if self.incoming is not None:
            self.incoming.discard()

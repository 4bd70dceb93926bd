"""Claude's memory tool on memgov: `/memories` as files whose every text passes the policy.

    from anthropic import Anthropic
    from memgov_client import Client
    from memgov_client.anthropic import MemoryTool

    tool = MemoryTool(Client(), scope="agent:support", origin="user_input")
    Anthropic().beta.messages.run_tools(model=…, messages=…, tools=[tool])

What a held write means here: `create` says so in its answer, and until a person has released the text the file does
not exist for the agent; a change (`str_replace`, `insert`) that would be held is refused and the file stays as it
was. Refusals are tool errors that say why, so that the model can write something else. A file holds 8,000
characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anthropic.lib.tools import (
    BetaAbstractMemoryTool,
    BetaAsyncAbstractMemoryTool,
    ToolError,
)

from memgov_client.clients import AsyncClient, Client
from memgov_client.documents import Origin, Shelf
from memgov_client.errors import MemgovError
from memgov_client.memory_files import FileError, MemoryFiles


class MemoryTool(BetaAbstractMemoryTool):
    """The tool for `Anthropic`.  ``scope`` and ``origin``: where it writes, and what is vouched for."""

    def __init__(
        self,
        client: Client,
        *,
        scope: str,
        origin: str,
        session: str | None = None,
        cache_control: Any = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._client = client
        self._files = _files(scope, origin, session)

    def view(self, command: Any) -> str:
        """A file with line numbers, or the files below a folder."""
        return self._do(self._files.view(command.path, command.view_range))

    def create(self, command: Any) -> str:
        """A new file."""
        return self._do(self._files.create(command.path, command.file_text))

    def str_replace(self, command: Any) -> str:
        """Replace a text that stands once in a file."""
        return self._do(self._files.str_replace(command.path, command.old_str, command.new_str))

    def insert(self, command: Any) -> str:
        """Insert lines after a line."""
        return self._do(self._files.insert(command.path, command.insert_line, command.insert_text))

    def delete(self, command: Any) -> str:
        """Delete a file, or a folder with all files below it."""
        return self._do(self._files.delete(command.path))

    def rename(self, command: Any) -> str:
        """Rename a file or a folder."""
        return self._do(self._files.rename(command.old_path, command.new_path))

    def clear_all_memory(self) -> str:
        """Delete every file."""
        return self._do(self._files.clear())

    def _do(self, plan: Any) -> str:
        try:
            return str(self._client.follow(plan))
        except (FileError, MemgovError) as error:
            raise ToolError(str(error)) from error


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """The tool for `AsyncAnthropic`."""

    def __init__(
        self,
        client: AsyncClient,
        *,
        scope: str,
        origin: str,
        session: str | None = None,
        cache_control: Any = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._client = client
        self._files = _files(scope, origin, session)

    async def view(self, command: Any) -> str:
        """A file with line numbers, or the files below a folder."""
        return await self._do(self._files.view(command.path, command.view_range))

    async def create(self, command: Any) -> str:
        """A new file."""
        return await self._do(self._files.create(command.path, command.file_text))

    async def str_replace(self, command: Any) -> str:
        """Replace a text that stands once in a file."""
        return await self._do(self._files.str_replace(command.path, command.old_str, command.new_str))

    async def insert(self, command: Any) -> str:
        """Insert lines after a line."""
        return await self._do(self._files.insert(command.path, command.insert_line, command.insert_text))

    async def delete(self, command: Any) -> str:
        """Delete a file, or a folder with all files below it."""
        return await self._do(self._files.delete(command.path))

    async def rename(self, command: Any) -> str:
        """Rename a file or a folder."""
        return await self._do(self._files.rename(command.old_path, command.new_path))

    async def clear_all_memory(self) -> str:
        """Delete every file."""
        return await self._do(self._files.clear())

    async def _do(self, plan: Any) -> str:
        try:
            return str(await self._client.follow(plan))
        except (FileError, MemgovError) as error:
            raise ToolError(str(error)) from error


def _files(scope: str, origin: str, session: str | None) -> MemoryFiles:
    return MemoryFiles(Shelf("file", Origin(scope, origin, session, tool="memory")))


__all__: Sequence[str] = ("AsyncMemoryTool", "MemoryTool")

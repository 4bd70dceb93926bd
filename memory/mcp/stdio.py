"""One agent's own server on standard input and output, for hosts that start their servers themselves.

Standard output belongs to the protocol; logs go to standard error.
"""

from __future__ import annotations

from collections.abc import Mapping

import anyio
from mcp.server.stdio import stdio_server

from memory.mcp.credentials import authenticated
from memory.mcp.pool import Pool
from memory.mcp.profiles import PROFILES
from memory.mcp.server import Caller, Context, make_server, new_request_id

THREADS = 2


def serve(profile_path: str, key: str, options: Mapping[str, str]) -> None:
    """Serve until standard input ends.  The key is read anew at every call: it may be revoked meanwhile."""
    pool = Pool(THREADS)

    def caller(ctx: Context) -> Caller:
        request_id = new_request_id()
        return Caller(authenticated(key, request_id), options, request_id)

    async def run() -> None:
        server = make_server(PROFILES[profile_path], pool, caller)
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    try:
        anyio.run(run)
    finally:
        pool.close()

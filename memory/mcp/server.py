"""The protocol's server of one profile: its tools and resources, run in the pool for whoever the transport names."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Any, Protocol, TypeVar

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Tool,
)

from memgov.ids import new_id
from memory.api import throttling
from memory.api.direct import problem_answer
from memory.api.problems import Problem, ProblemError
from memory.mcp import resources
from memory.mcp.pool import Pool
from memory.mcp.results import result_of
from tenants.principals import Principal

log = logging.getLogger(__name__)

T = TypeVar("T")
Context = ServerRequestContext[Any, Any]


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, and what the address of the server says about the call.  Read from the transport each time."""

    principal: Principal
    options: Mapping[str, str]
    request_id: str


class ProfileTool(Protocol):
    """A tool of a profile."""

    @property
    def shown(self) -> Tool: ...

    def run(self, principal: Principal, arguments: Mapping[str, Any], request_id: str) -> CallToolResult: ...


@dataclass(frozen=True, slots=True)
class Profile:
    """A set of tools under one address.  `tools` are those for a call, by what its address says."""

    name: str
    title: str
    instructions: str
    shown: Sequence[Tool]
    tools: Callable[[Mapping[str, str]], Mapping[str, ProfileTool]]
    has_resources: bool = False


FindCaller = Callable[[Context], Caller]


def new_request_id() -> str:
    """The id of one call, in logs, audit events and errors."""
    return f"req_{new_id().hex}"


def make_server(profile: Profile, pool: Pool, find_caller: FindCaller) -> Server[Any]:
    """The server of a profile.  `find_caller` may ask the database; it runs in the pool with the work."""

    async def list_tools(ctx: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=list(profile.shown))

    async def call_tool(ctx: Context, params: CallToolRequestParams) -> CallToolResult:
        if params.name not in names:
            known = ", ".join(sorted(names))
            raise MCPError(INVALID_PARAMS, f"no tool is called {params.name[:100]!r}; there are {known}")
        try:
            return await pool.run(partial(_run_tool, profile, params, partial(find_caller, ctx)))
        except ProblemError as error:
            return result_of(problem_answer(error.problem, ""))

    async def list_resources(ctx: Context, params: PaginatedRequestParams | None) -> ListResourcesResult:
        caller = await _asked(pool, partial(find_caller, ctx))
        return ListResourcesResult(resources=resources.listed(caller.principal))

    async def list_templates(
        ctx: Context, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=resources.TEMPLATES)

    async def read_resource(ctx: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        def work() -> ReadResourceResult:
            caller = find_caller(ctx)
            with throttling.counted_once(caller.principal, "read"):
                return resources.read(caller.principal, str(params.uri), caller.request_id)

        return await _asked(pool, work)

    async def counted(ctx: Context, call_next: CallNext) -> HandlerResult:
        """Count what no REST call counts: the handshake, lists, pings, and tools that there are none of."""
        if ctx.request_id is not None and not _counts_itself(ctx, names):
            await _asked(pool, partial(_charge, partial(find_caller, ctx)))
        return await call_next(ctx)

    names = {tool.name for tool in profile.shown}
    schemas = {tool.name: tool.input_schema for tool in profile.shown}
    more: dict[str, Any] = {}
    if profile.has_resources:
        more = {
            "on_list_resources": list_resources,
            "on_list_resource_templates": list_templates,
            "on_read_resource": read_resource,
        }
    server: Server[Any] = Server(
        profile.name,
        version=version("memgov-server"),
        title=profile.title,
        instructions=profile.instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        get_tool_input_schema=schemas.get,
        **more,
    )
    server.middleware.append(counted)
    return server


def _counts_itself(ctx: Context, names: Collection[str]) -> bool:
    """Whether the message is a REST call in the end, which is charged as one; what comes to none is charged there."""
    if ctx.method == "tools/call":
        return (ctx.params or {}).get("name") in names
    return ctx.method == "resources/read"


def _charge(find_caller: Callable[[], Caller]) -> None:
    throttling.charge(find_caller().principal, "read")


def _run_tool(
    profile: Profile, params: CallToolRequestParams, find_caller: Callable[[], Caller]
) -> CallToolResult:
    """A tool's result, or its error as a result.  In a thread of the pool."""
    try:
        caller = find_caller()
        tool = profile.tools(caller.options)[params.name]
        with throttling.counted_once(caller.principal, "read"):
            return tool.run(caller.principal, params.arguments or {}, caller.request_id)
    except ProblemError:
        raise
    except Exception:
        log.exception("tool %s failed", params.name)
        return result_of(
            problem_answer(Problem(500, "internal_error", "Something went wrong on our side."), "")
        )


async def _asked(pool: Pool, work: Callable[[], T]) -> T:
    """The result of the work; problems as errors of the protocol."""
    try:
        return await pool.run(work)
    except ProblemError as error:
        number = INTERNAL_ERROR if error.problem.status >= 500 else INVALID_PARAMS
        data: dict[str, Any] = {"code": error.problem.code, "status": error.problem.status}
        if "Retry-After" in error.problem.headers:
            data["retry_after"] = int(error.problem.headers["Retry-After"])
        raise MCPError(number, f"{error.problem.code}: {error.problem.detail}", data) from None

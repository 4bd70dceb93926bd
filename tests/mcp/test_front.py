"""Before a message is read: keys, hosts, origins, addresses, sizes; each refusal says what to do."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest
from django.test import Client as Web

from memgov import clock
from memory.models import AuditEvent
from tests.factories import Machine, Stage, make_agent
from tests.mcp.talking import McpProcess, message, post

LIST = message("tools/list")


def refused(answer: httpx.Response, status: int, code: str) -> str:
    """A whole problem with this status and code; its detail."""
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/problem+json"
    body = answer.json()
    assert body["code"] == code and body["request_id"] == answer.headers["X-Request-ID"]
    return str(body["detail"])


def revoke(stage: Stage, machine: Machine) -> None:
    with stage.context():
        machine.key.revoked_at = clock.now()
        machine.key.save()


def pause(stage: Stage, machine: Machine) -> None:
    with stage.context():
        machine.agent.paused_at = clock.now()
        machine.agent.save()


def expire(stage: Stage, machine: Machine) -> None:
    with stage.context():
        machine.key.expires_at = clock.now() - timedelta(seconds=1)
        machine.key.save()


def test_key__of_another_network__401_and_in_the_audit(stage: Stage, mcp_process: McpProcess) -> None:
    machine = make_agent(stage.tenant, "tester")
    bind_elsewhere(stage, machine)
    for path in ("/mcp", "/mcp/graph"):
        answer = post(mcp_process, LIST, machine.key_text, path)
        assert "127.0.0.1" in refused(answer, 401, "key_elsewhere")
        assert "resource_metadata" in answer.headers["WWW-Authenticate"]
    spoofed = post(mcp_process, LIST, machine.key_text, X_Forwarded_For="192.0.2.7")
    refused(spoofed, 401, "key_elsewhere")
    with stage.context():
        assert AuditEvent.objects.filter(action="access.denied", actor_id=machine.principal.id).count() == 1


def test_key__good__lists_tools(stage: Stage, mcp_process: McpProcess) -> None:
    answer = post(mcp_process, LIST, stage.coder.key_text)
    assert answer.status_code == 200
    assert len(answer.json()["result"]["tools"]) == 10
    assert answer.headers["X-Request-ID"].startswith("req_")


def bind_elsewhere(stage: Stage, machine: Machine) -> None:
    with stage.context():
        machine.key.networks = ["192.0.2.0/24"]
        machine.key.save()


def test_key__bound_to_our_network__lists_tools(stage: Stage, mcp_process: McpProcess) -> None:
    machine = make_agent(stage.tenant, "tester")
    with stage.context():
        machine.key.networks = ["127.0.0.0/8", "::1/128"]
        machine.key.save()
    assert post(mcp_process, LIST, machine.key_text).status_code == 200


def test_key__bound_to_another_network__401_says_so(stage: Stage, mcp_process: McpProcess) -> None:
    machine = make_agent(stage.tenant, "tester")
    bind_elsewhere(stage, machine)
    refused(post(mcp_process, LIST, machine.key_text), 401, "key_elsewhere")


@pytest.mark.parametrize(
    ("close", "code"), [(revoke, "key_revoked"), (pause, "agent_paused"), (expire, "key_expired")]
)
def test_key__closed__401_says_so(stage: Stage, mcp_process: McpProcess, close: object, code: str) -> None:
    machine = make_agent(stage.tenant, "tester")
    assert post(mcp_process, LIST, machine.key_text).status_code == 200
    close(stage, machine)  # type: ignore[operator]
    answer = post(mcp_process, LIST, machine.key_text)
    refused(answer, 401, code)
    assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]


@pytest.mark.parametrize(
    "authorization", ["", "Basic YTpi", "Bearer", "Bearer \x7f", "Bearer mgk_wrong", "mgk_x"]
)
@pytest.mark.parametrize("path", ["/mcp", "/mcp/graph"])
def test_key__none_or_wrong__401_points_to_metadata(
    mcp_process: McpProcess, authorization: str, path: str
) -> None:
    headers = {"Authorization": authorization} if authorization else {}
    answer = post(mcp_process, LIST, path=path, **headers)
    assert answer.status_code == 401
    challenge = answer.headers["WWW-Authenticate"]
    metadata = challenge.partition('resource_metadata="')[2].partition('"')[0]
    found = httpx.get(metadata)
    assert found.status_code == 200
    assert found.json()["resource"] == mcp_process.base + path
    assert found.json()["bearer_methods_supported"] == ["header"]


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8001", "127.0.0.1.evil.example", "[::2]"])
def test_host__not_ours__421(stage: Stage, mcp_process: McpProcess, host: str) -> None:
    refused(post(mcp_process, LIST, stage.coder.key_text, Host=host), 421, "wrong_host")


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "file://", "http://localhost.evil.example"]
)
def test_origin__of_another_page__403(stage: Stage, mcp_process: McpProcess, origin: str) -> None:
    refused(post(mcp_process, LIST, stage.coder.key_text, Origin=origin), 403, "wrong_origin")


def test_origin__own__passes(stage: Stage, mcp_process: McpProcess) -> None:
    assert post(mcp_process, LIST, stage.coder.key_text, Origin="http://localhost:6274").status_code == 200


@pytest.mark.parametrize("path", ["/mcp", "/mcp/graph"])
def test_body__that_says_it_is_packed__415(stage: Stage, mcp_process: McpProcess, path: str) -> None:
    answer = post(mcp_process, LIST, stage.coder.key_text, path, Content_Encoding="gzip")
    assert "send it plain" in refused(answer, 415, "unsupported_encoding")
    assert answer.headers["Accept-Encoding"] == "identity"
    plain = post(mcp_process, LIST, stage.coder.key_text, path, Content_Encoding="identity")
    assert plain.status_code == 200, "the positive control"


@pytest.mark.parametrize("path", ["/", "/sse", "/mcp/other", "/api/v1/memories", "/messages"])
def test_address__wrong__404_names_the_right_one(stage: Stage, mcp_process: McpProcess, path: str) -> None:
    detail = refused(post(mcp_process, LIST, stage.coder.key_text, path), 404, "not_found")
    assert mcp_process.url in detail
    assert ("REST" in detail) == path.startswith("/api")


@pytest.mark.parametrize("method", ["post", "get"])
@pytest.mark.parametrize("path", ["/mcp", "/mcp/graph"])
def test_address__of_the_web_process__404_says_where_mcp_is(database: None, method: str, path: str) -> None:
    answer = getattr(Web(), method)(path)
    assert answer.status_code == 404
    assert answer.json()["code"] == "mcp_elsewhere" and "/mcp" in answer.json()["detail"]


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_method__other_than_post__405(stage: Stage, mcp_process: McpProcess, method: str) -> None:
    answer = httpx.request(method, mcp_process.url, headers=stage.coder.headers)
    refused(answer, 405, "method_not_allowed")
    assert answer.headers["Allow"] == "POST"


def test_parameter__unknown__400_names_it(stage: Stage, mcp_process: McpProcess) -> None:
    detail = refused(
        post(mcp_process, LIST, stage.coder.key_text, "/mcp/graph?scoop=shared"), 400, "unknown_parameter"
    )
    assert "scoop" in detail
    refused(post(mcp_process, LIST, stage.coder.key_text, "/mcp/graph?scope=nowhere"), 400, "invalid_scope")


@pytest.mark.parametrize(
    "body",
    ["", "{", "[]", "null", "1", '"x"', "\ud83d".encode("utf-8", "surrogatepass"), b"\xff\xfe", "[" * 5000,
     '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add_memory","arguments":{"content":"\\ud83d"}}}',
     {"jsonrpc": "2.0", "id": 1}, {"jsonrpc": "1.0", "id": 1, "method": "tools/list"}, message("no/such"),
     message("tools/call"), message("tools/call", {"name": 5}), message("tools/call", {"name": "x", "arguments": []})],
)  # fmt: skip
def test_message__broken__an_error_and_the_next_call_works(
    stage: Stage, mcp_process: McpProcess, body: object
) -> None:
    answer = post(mcp_process, body, stage.coder.key_text)
    assert answer.status_code < 500
    assert answer.status_code >= 400 or "error" in answer.json() or answer.json()["result"]["isError"]
    assert post(mcp_process, LIST, stage.coder.key_text).status_code == 200


def test_body__too_large__413(stage: Stage, mcp_process: McpProcess) -> None:
    body = message("tools/call", {"name": "add_memory", "arguments": {"content": "x" * 3_000_000}})
    assert post(mcp_process, body, stage.coder.key_text).status_code == 413


def test_request_id__given__goes_into_the_audit(stage: Stage, mcp_process: McpProcess) -> None:
    arguments = {
        "content": "The night crew locks the paper store.",
        "scope": "project:alpha",
        "origin": "tool_verified",
    }
    call = message("tools/call", {"name": "add_memory", "arguments": arguments})
    answer = post(mcp_process, call, stage.coder.key_text, X_Request_ID="mine-77")
    assert answer.headers["X-Request-ID"] == "mine-77"
    with stage.context():
        assert AuditEvent.objects.filter(request_id="mine-77").exists()

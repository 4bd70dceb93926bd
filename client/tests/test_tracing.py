"""Spans, with the real SDK of OpenTelemetry."""

from __future__ import annotations

import pytest
from conftest import Tenant
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from memgov_client import Client, DeniedError

FACT = "Refunds above 50 euros need a second approval."


@pytest.fixture(scope="module")
def exporter() -> InMemorySpanExporter:
    """What the process exports; a provider can be set once."""
    made = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(made))
    trace.set_tracer_provider(provider)
    return made


def test_spans__name_the_operation_and_hold_no_text(
    exporter: InMemorySpanExporter, client: Client, tenant: Tenant
) -> None:
    memory = client.write(FACT, scope="project:alpha", origin="user_explicit").memory
    assert memory is not None and memory.id
    client.retrieve("refunds", scopes=["project:alpha"])
    client.edit(memory.id, version=1, importance=0.9)
    client.delete(memory.id, "over")
    with pytest.raises(DeniedError):
        client.write(FACT, scope="shared", origin="user_explicit")
    spans: tuple[ReadableSpan, ...] = exporter.get_finished_spans()
    assert [span.name for span in spans] == [
        "upsert_memory", "search_memory", "update_memory", "delete_memory", "upsert_memory",
    ]  # fmt: skip
    write, search, edit, _, denied = (dict(span.attributes or {}) for span in spans)
    assert write["gen_ai.operation.name"] == "upsert_memory" and write["gen_ai.provider.name"] == "memgov"
    assert write["gen_ai.memory.store.id"] == search["gen_ai.memory.store.id"] == "project:alpha"
    assert edit["gen_ai.memory.record.id"] == memory.id and write["server.port"]
    assert denied["error.type"] == "scope_denied" and "error.type" not in write
    everything = " ".join(str(value) for span in spans for value in (span.attributes or {}).values())
    assert "Refunds" not in everything and "mgk_" not in everything

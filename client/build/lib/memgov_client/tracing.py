"""Spans by the conventions of OpenTelemetry for generative AI, where its API is installed; otherwise nothing.

One span covers a call with all its attempts. `gen_ai.memory.store.id` is the scope, `gen_ai.memory.record.id` the
memory. Texts, queries and keys are never put into a span.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from memgov_client.call import Call
from memgov_client.errors import ProblemError

try:
    from opentelemetry import trace  # type: ignore[attr-defined,unused-ignore]
except ImportError:
    trace = None  # type: ignore[assignment]

PROVIDER = "memgov"


@contextmanager
def span(call: Call[Any], base_url: str, tries: list[int]) -> Iterator[None]:
    """Around one call.  ``tries`` holds the number of attempts at the end."""
    if trace is None:
        yield
        return
    tracer = trace.get_tracer("memgov_client")
    with tracer.start_as_current_span(
        call.operation, kind=trace.SpanKind.CLIENT, attributes=_known(call, base_url), record_exception=False
    ) as current:
        try:
            yield
        except Exception as error:
            code = error.code if isinstance(error, ProblemError) else type(error).__name__
            current.set_attribute("error.type", code)
            raise
        finally:
            current.set_attribute("http.request.resend_count", max(0, (tries or [1])[0] - 1))


def _known(call: Call[Any], base_url: str) -> Mapping[str, str | int]:
    address = urlsplit(base_url)
    found: dict[str, str | int] = {
        "gen_ai.operation.name": call.operation,
        "gen_ai.provider.name": PROVIDER,
        "server.address": address.hostname or "",
        **call.attributes,
    }
    if address.port:
        found["server.port"] = address.port
    return found

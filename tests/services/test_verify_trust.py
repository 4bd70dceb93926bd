"""To confirm a memory makes it fresh: a key that may not claim the memory's trust cannot."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memgov import clock
from memory.models import AuditEvent, Memory
from memory.services.errors import Denied
from memory.services.memory_write import memory_write
from memory.services.retention import memory_verify
from memory.services.write_types import WriteRequest
from tests.factories import make_agent, make_tenant

pytestmark = pytest.mark.usefixtures("database")


def test_verify__by_a_key_below_the_trust__is_refused_and_audited_and_by_others_confirms() -> None:
    stage = make_tenant()
    weak = make_agent(stage.tenant, "coder", ["project:alpha=rw"], trust_ceiling=0.5)
    even = make_agent(stage.tenant, "coder", ["project:alpha=rw"], trust_ceiling=0.9)
    request = WriteRequest(
        content="The kiln desk closes at six.", scope="project:alpha", origin="user_explicit"
    )
    memory = memory_write(stage.coder.principal, request).memory
    assert memory is not None and memory.trust == 0.9
    with clock.moved_to(clock.now() + timedelta(days=20)):
        with pytest.raises(Denied) as refused:
            memory_verify(weak.principal, memory.id)
        assert (refused.value.status, refused.value.code) == (403, "trust_denied")
        with stage.context():
            assert Memory.objects.get(id=memory.id).learned_at == memory.learned_at
            event = AuditEvent.objects.get(action="access.denied")
            assert (event.target_kind, event.actor_name) == ("memory", weak.agent.name)
        assert memory_verify(even.principal, memory.id).learned_at == clock.now()
    with clock.moved_to(clock.now() + timedelta(days=40)):
        assert memory_verify(stage.reviewer.principal, memory.id).learned_at == clock.now()

"""A burst of junk from one agent: one alert that names it, a pause where policy says so, and nobody else's trouble."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memgov import clock
from memory.domain.policy import Policy
from memory.models import Alert, AuditEvent
from memory.services.alerts import alert_acknowledge
from memory.services.errors import Conflict, Denied
from memory.services.memory_write import memory_check, memory_write
from memory.services.tenancy import agent_pause
from memory.services.write_types import WriteRequest
from tests.api.caller import Caller, assert_problem
from tests.factories import Stage, make_tenant

pytestmark = pytest.mark.usefixtures("database")


def stage_with(**limits: Any) -> Stage:
    document = Policy().model_dump(mode="json")
    document["rate_limits"] |= limits
    return make_tenant(policy=Policy.model_validate(document))


def junk(stage: Stage, count: int, start: int = 0) -> None:
    for n in range(start, start + count):
        refused = WriteRequest(content=f"I cannot help with that number {n}.", scope="project:alpha")
        memory_write(stage.coder.principal, refused)


def alerts(stage: Stage) -> list[Alert]:
    with stage.context():
        return list(Alert.objects.order_by("id"))


def test_burst__twenty_one_refusals__one_alert_that_names_the_agent(database: None) -> None:
    stage = make_tenant()
    junk(stage, 19)
    assert alerts(stage) == []
    junk(stage, 2, start=19)
    [alert] = alerts(stage)
    assert stage.coder.agent.name in alert.message and alert.evidence["reasons"] == {"too_vague": 20}
    assert (alert.count, alert.target) == (2, stage.coder.principal.id)
    with stage.context():
        assert AuditEvent.objects.filter(action="alert.opened").count() == 1
    assert Caller(stage.coder).get("whoami").status_code == 200


def test_burst__policy_pauses__keys_open_nothing_until_resumed(database: None) -> None:
    stage = stage_with(junk_burst_count=3, junk_burst_pauses_key=True)
    junk(stage, 3)
    assert_problem(Caller(stage.coder).get("whoami"), 401, "agent_paused")
    assert Caller(stage.orchestrator).get("whoami").status_code == 200, "others go on"
    with stage.context():
        assert AuditEvent.objects.get(action="agent.paused").actor_name == "watch.junk_burst"
    agent_pause(stage.owner.principal, stage.coder.agent, False)
    assert Caller(stage.coder).get("whoami").status_code == 200


def test_burst__spread_over_time_or_only_checked__no_alert(database: None) -> None:
    stage = stage_with(junk_burst_count=3)
    start = clock.now()
    for n in range(6):
        with clock.moved_to(start + timedelta(seconds=40 * n)):
            junk(stage, 1, start=n)
    for _ in range(5):
        memory_check(stage.coder.principal, WriteRequest(content="ok", scope="project:alpha"))
    assert alerts(stage) == []


def test_alert__acknowledged__next_burst_opens_another(database: None) -> None:
    stage = stage_with(junk_burst_count=2)
    junk(stage, 2)
    [alert] = alerts(stage)
    with pytest.raises(Denied):
        alert_acknowledge(stage.coder.principal, alert.id)
    done = alert_acknowledge(stage.reviewer.principal, alert.id, "a stuck session, stopped")
    assert done.acknowledged_by == stage.reviewer.principal.name
    with pytest.raises(Conflict):
        alert_acknowledge(stage.reviewer.principal, alert.id)
    junk(stage, 1, start=2)
    assert len(alerts(stage)) == 2

"""The digest: never stale, whatever changes memory; contested values side by side; 304 for what is unchanged."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memgov import clock
from memory.domain.scopes import GrantRule, parse_grant, parse_scope
from memory.models import ManifestEntry
from memory.services import tenancy
from memory.services.digest import digest_read
from memory.services.errors import NotFound
from memory.services.manifest_read import manifest_read
from memory.services.memory_write import memory_write
from memory.services.policies import policy_activate
from memory.services.write_types import WriteRequest
from tenants.authentication import authenticate_key
from tenants.principals import system
from tests.factories import make_agent, make_tenant
from tests.services.digest_life import ALPHA, CHANGES, DYE, KILN, UNGUARDED, Life, decide, settle, shown
from tests.statements import statements

pytestmark = pytest.mark.usefixtures("database")


@pytest.mark.parametrize("name", CHANGES)
def test_digest__after_a_change__is_the_new_one(name: str) -> None:
    prepare, change = CHANGES[name]
    life = Life(make_tenant(policy=UNGUARDED))
    prepare(life)
    with clock.moved_to(max(life.now, clock.now())):
        before = life.read()
        assert shown(before) == life.truth(), "before the change"
        assert life.read(have=before.etag).manifest is None, (
            "positive control: unchanged is told as unchanged"
        )
    change(life)
    life.now = max(life.now, clock.now())
    with clock.moved_to(life.now):
        after = life.read(have=before.etag)
        assert after.manifest is not None, "a stale digest was taken for the present one"
        assert after.digest.text != before.digest.text
        assert shown(after) == life.truth()
        again = manifest_read(life.stage.coder.principal, after.manifest.id)
    assert again.text == after.digest.text and again.as_returned


def test_digest__promoted_into_its_scope__shows_it_there() -> None:
    life = Life(make_tenant())
    shared = parse_scope("shared")
    before = digest_read(life.stage.coder.principal, shared)
    assert before.digest.text == ""
    decide("approve")(life)
    after = digest_read(life.stage.coder.principal, shared, have=before.etag)
    assert after.manifest is not None and DYE in after.digest.text


def test_digest__policy_activated__another_etag_and_its_numbers() -> None:
    life = Life(make_tenant())
    before = life.read()
    policy_activate(
        life.stage.owner.principal, {"digest": {"max_tokens": before.digest.tokens - 1}}, "shorter"
    )
    after = life.read(have=before.etag)
    assert after.manifest is not None and after.manifest.policy_version == 2
    assert KILN in after.digest.text and DYE not in after.digest.text
    assert after.digest.left_out == {"token_budget": 1}


def test_digest__grant_taken_and_given__not_there_and_there_again() -> None:
    life = Life(make_tenant())
    actor, agent = system(life.stage.tenant.id, "test"), make_agent(life.stage.tenant, "reader")
    with pytest.raises(NotFound):
        digest_read(agent.principal, ALPHA)
    tenancy.grant_set(actor, parse_grant("project:alpha=r"), agent=agent.agent)
    granted = digest_read(authenticate_key(agent.key_text), ALPHA)
    assert KILN in granted.digest.text
    tenancy.grant_set(actor, GrantRule("project:alpha", frozenset()), agent=agent.agent)
    with pytest.raises(NotFound):
        digest_read(authenticate_key(agent.key_text), ALPHA, have=granted.etag)


def test_digest__contested__both_values_side_by_side_and_named() -> None:
    life = Life(make_tenant())
    life.contest()
    answer = life.read()
    lines = answer.digest.text.splitlines()
    at = [number for number, line in enumerate(lines) if "-cove" in line]
    assert len(at) == 2 and at[1] == at[0] + 1, "one after the other"
    marks = {line.rsplit("(mem~", 1)[1][:8] for line in (lines[number] for number in at)}
    for number in at:
        own = lines[number].rsplit("(mem~", 1)[1][:8]
        assert f"(contested: mem~{(marks - {own}).pop()} says otherwise)" in lines[number]
    assert answer.manifest is not None
    with life.stage.context():
        entries = ManifestEntry.objects.filter(manifest_id=answer.manifest.id)
        starts = {entry.rivals_from for entry in entries if entry.rivals_from is not None}
        assert len(starts) == 1 and entries.exclude(rivals_from=None).count() == 2
    settle(life)
    settled = life.read(have=answer.etag)
    assert "contested" not in settled.digest.text and settled.digest.text.count("-cove") == 1
    again = manifest_read(life.stage.coder.principal, answer.manifest.id)
    assert again.text == answer.digest.text and again.as_returned, "the old text is still told as it was"


def test_digest__contested_pair_over_the_budget__both_or_none() -> None:
    life = Life(make_tenant())
    life.contest()
    whole = life.read().digest
    short = digest_read(life.stage.coder.principal, ALPHA, max_tokens=whole.tokens - 1).digest
    assert short.text.count("-cove") in (0, 2)
    assert sum(short.left_out.values()) in (1, 2)


def test_digest__of_another_session__is_not_304_so_that_an_echo_is_known() -> None:
    life = Life(make_tenant())
    first = life.read(session="s1")
    assert life.read(have=first.etag, session="s1").manifest is None
    other = life.read(have=first.etag, session="s2")
    assert other.manifest is not None and other.digest.text == first.digest.text
    echoed = memory_write(
        life.stage.coder.principal,
        WriteRequest(content=KILN, scope="project:alpha", origin="tool_verified", session="s2"),
    )
    assert echoed.outcome == "echo"


def test_digest__unchanged__costs_few_statements_and_leaves_nothing() -> None:
    life = Life(make_tenant())
    have = life.read().etag
    with CaptureQueriesContext(connection) as captured:
        assert life.read(have=have).manifest is None
    told = statements(captured)
    assert len(told) <= 3, told  # the tenant, the policy, the rows
    with life.stage.context():
        assert ManifestEntry.objects.count() == 2

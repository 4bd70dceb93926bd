"""The command line: tenants, agents, policies, sweeps."""

from __future__ import annotations

import json
import secrets
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from memgov import clock
from memory.models import PolicyVersion
from memory.services import policies
from memory.services.errors import Denied, Invalid
from memory.services.policies import policy_activate
from tenants.authentication import authenticate_key
from tenants.context import tenant_context
from tenants.models import Membership, Tenant, User
from tests.sweeps.planting import Plot

pytestmark = pytest.mark.usefixtures("database")


def _call(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def _json(*arguments: str) -> Any:
    return json.loads(_call(*arguments, "--json"))


def test_tenant_create__new_owner__can_sign_in_with_the_password_shown_once() -> None:
    slug, email = f"t-{secrets.token_hex(4)}", f"{secrets.token_hex(4)}@example.org"
    made = _json("tenant", "create", slug, "--owner", email.upper())
    assert (made["tenant"], made["owner"]) == (slug, email)
    user = User.objects.get(email=email)
    assert user.check_password(made["password"])
    plot_tenant = Tenant.objects.get(slug=slug)
    with tenant_context(plot_tenant.id):
        assert Membership.objects.get(user_id=user.id).role == "owner"
    second = _json("tenant", "create", f"{slug}-b", "--owner", email)
    assert second["password"] is None, "an account that is there keeps its password"
    assert any(row["slug"] == slug for row in _json("tenant", "list"))


def test_tenant_create__taken_slug_or_bad_address__makes_nothing() -> None:
    taken, email = Plot().stage.tenant.slug, f"{secrets.token_hex(4)}@example.org"
    with pytest.raises(CommandError, match="exists already"):
        _call("tenant", "create", taken, "--owner", email)
    assert not User.objects.filter(email=email).exists()
    with pytest.raises(CommandError, match="no e-mail address"):
        _call("tenant", "create", "fine", "--owner", "nobody")


def test_agent_create__with_grants__prints_a_key_that_opens_just_that() -> None:
    plot = Plot()
    slug = plot.stage.tenant.slug
    made = _json(
        "agent", "create", "--tenant", slug, "--name", "ci", "--role", "coder", "--grant", "project:alpha=rw"
    )
    assert set(made) >= {"tenant", "agent", "key"}
    principal = authenticate_key(made["key"])
    assert principal.tenant_id == plot.tenant_id
    assert ("project:alpha", ("read", "write")) in principal.grants
    with pytest.raises(CommandError, match="exists already"):
        _call("agent", "create", "--tenant", slug, "--name", "ci", "--role", "coder")
    with pytest.raises(CommandError, match="no tenant 'nowhere'"):
        _call("agent", "create", "--tenant", "nowhere", "--name", "x", "--role", "coder")
    with pytest.raises(CommandError, match="PATTERN=VERBS"):
        _call(
            "agent", "create", "--tenant", slug, "--name", "x", "--role", "coder", "--grant", "project:alpha"
        )


def test_sweep__by_name_for_one_tenant__changes_only_that_one() -> None:
    mine, other = Plot(), Plot()
    due = clock.now() - timedelta(days=1)
    ids, others = mine.plant(2, expires_at=due), other.plant(expires_at=due)
    slug = mine.stage.tenant.slug
    assert "would change 2" in _call("sweep", "expiry", "--tenant", slug, "--dry-run")
    assert mine.statuses(ids) == ["live"] * 2
    assert f"{slug}: expiry done, looked at 2, changed 2" in _call("sweep", "expiry", "--tenant", slug)
    assert mine.statuses(ids) == ["expired"] * 2
    assert other.statuses(others) == ["live"]


def test_policy__show_diff_set_preset__versions_in_words(tmp_path: Path) -> None:
    plot = Plot()
    slug, file = plot.stage.tenant.slug, tmp_path / "policy.yaml"
    file.write_text("decay:\n  floor: 0.25\n")
    assert _call("policy", "diff", str(file), "--tenant", slug).strip() == "decay floor 0.15 → 0.25"
    assert "version 1" in _call("policy", "show", "--tenant", slug)
    said = _call("policy", "set", str(file), "--tenant", slug, "--reason", "forget sooner")
    assert said.splitlines() == ["policy version 2 is active", "  decay floor 0.15 → 0.25"]
    assert "floor: 0.25" in _call("policy", "show", "--tenant", slug)
    with plot.stage.context():
        version = PolicyVersion.objects.get(active=True)
    assert (version.number, version.reason, version.changes) == (
        2,
        "forget sooner",
        ["decay floor 0.15 → 0.25"],
    )
    assert plot.count("memory_auditevent", "action = 'policy.activated' AND reason = 'forget sooner'") == 1
    assert "version 3" in _call("policy", "preset", "open", "--tenant", slug, "--reason", "an evaluation")
    assert "version 3" in _call("policy", "preset", "open", "--tenant", slug, "--reason", "again"), (
        "nothing changed"
    )
    file.write_text("decay:\n  flor: 0.25\n")
    with pytest.raises(CommandError, match=r"decay\.flor"):
        _call("policy", "set", str(file), "--tenant", slug, "--reason", "a slip")
    file.write_text("- no\n")
    with pytest.raises(CommandError, match="holds no policy"):
        _call("policy", "set", str(file), "--tenant", slug, "--reason", "a slip")


def test_policy_activate__by_a_reviewer_or_without_reason__is_refused_and_audited() -> None:
    plot = Plot()
    with pytest.raises(Denied):
        policy_activate(plot.stage.reviewer.principal, {"decay": {"floor": 0.5}}, "I want to")
    assert plot.count("memory_auditevent", "action = 'access.denied'") == 1
    with pytest.raises(Invalid, match="say why"):
        policy_activate(plot.stage.owner.principal, {"decay": {"floor": 0.5}}, "  ")
    assert plot.count("memory_policyversion") == 1


def test_policy_roll_back__earlier_version__is_active_again_under_a_new_number() -> None:
    plot = Plot()
    owner = plot.stage.owner.principal
    policy_activate(owner, {"decay": {"floor": 0.5}}, "harder")
    version = policies.policy_roll_back(owner, 1, "too hard")
    assert (version.number, version.changes) == (3, ["decay floor 0.5 → 0.15"])

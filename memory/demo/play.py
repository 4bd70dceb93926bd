"""Ninety days of one demo tenant, day by day, through the real services under a moved clock."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from datetime import datetime, time, timedelta
from hashlib import sha256
from typing import Any

from memgov import clock
from memory.demo import lines
from memory.demo.cast import ROLES, Cast, Player
from memory.domain.policy import Policy
from memory.domain.scopes import Scope, ScopeKind, parse_grant
from memory.models import Contradiction, Memory, PromotionRequest
from memory.services import contradictions, promotion, promotion_decide, quarantine, retention, tenancy
from memory.services.errors import ServiceError
from memory.services.memory_write import memory_write
from memory.services.mounts import MountCall, mount_apply
from memory.services.policies import policy_activate
from memory.services.recall import RetrieveRequest, memory_retrieve
from memory.services.sweeps import sweep_chain, sweep_compaction, sweep_decay, sweep_expiry, sweep_health
from memory.services.usage import usage_report
from memory.services.write_types import WriteRequest
from tenants.context import tenant_context
from tenants.models import AgentKey, Tenant, User
from tenants.principals import Principal, system

DAYS = 90
_REPEAT = 0.35  # how often an agent says again what was said before
_PROPOSE = 0.10  # how often an agent asks that something be shared
_OPEN_DAYS = (
    3  # of the last days nobody has decided yet, and agents ask more, so that there is something to decide
)
_HELD_FOR = timedelta(days=20)  # before a reviewer of the demo looks at it

Progress = Callable[[int], None]


class Play:
    """One tenant's history.  Deterministic for a seed: the same story at every load."""

    def __init__(
        self, cast: Cast, users: dict[str, User], end: datetime, seed: int = 7, *, days: int = DAYS
    ) -> None:
        self.cast, self.end, self.days = cast, end, days
        self.lately = days - _OPEN_DAYS
        self.rng = random.Random(f"{cast.slug} {seed}")
        self.said: dict[str, list[lines.Line]] = {}
        self.users = users
        self.today = 0

    def run(self, progress: Progress = lambda day: None, tenant: Tenant | None = None) -> Tenant:
        """Live all days, in a fresh tenant or in the one that was made for it; the tenant as it is at the end."""
        first = self.latest = self.end - timedelta(days=self.days)
        with clock.moved_to(first):
            self._found(tenant)
        for day in range(self.days):
            self._day(day, first + timedelta(days=day))
            progress(day + 1)
        with clock.moved_to(self.latest):
            self._leave_something_to_decide()
        return self.tenant

    def _leave_something_to_decide(self) -> None:
        """Of a short story chance may leave a queue empty; then the agents go on a little."""
        for turn, player in enumerate(self.cast.players * 10):
            with tenant_context(self.tenant.id):
                held = Memory.objects.filter(status="quarantined").exists()
                asked = PromotionRequest.objects.filter(status="pending").exists()
                clash = Contradiction.objects.filter(status="open").exists()
            if held and asked and clash:
                return
            session = f"{self.cast.slug[:2]}-more-{turn}"
            if not held:
                self._say(
                    self.agents[player.name], player, session, lines.poison(self.rng, self.cast, player)
                )
            else:
                self._visit(player, session)

    def _found(self, tenant: Tenant | None) -> None:
        self.tenant = tenant or tenancy.tenant_create(self.cast.slug, self.cast.name, is_demo=True)
        Tenant.objects.filter(id=self.tenant.id).update(status=Tenant.Status.SUSPENDED)  # until it is whole
        founder = system(self.tenant.id, "demo.load")
        self.people: dict[str, Principal] = {}
        for role in ROLES:
            user = self.users[role]
            tenancy.member_add(founder, user, role)
            self.people[role] = Principal(self.tenant.id, "member", f"usr_{user.id.hex}", str(user), role)
        self.agents: dict[str, Principal] = {}
        for player in self.cast.players:
            self.agents[player.name] = self._hire(founder, player)

    def _hire(self, founder: Principal, player: Player) -> Principal:
        rules = [parse_grant(text) for text in player.grants]
        agent = tenancy.agent_create(founder, player.name, player.role, rules)
        # Its text goes nowhere, so that nobody can use it; the history shows when it was used.
        new = tenancy.key_create(founder, agent, name="demo history", trust_ceiling=player.trust_ceiling)
        return Principal(
            tenant_id=self.tenant.id,
            kind="agent",
            id=f"agt_{agent.id.hex}",
            name=player.name,
            role=player.role,
            agent_id=agent.id,
            key_id=new.key.id,
            trust_ceiling=player.trust_ceiling,
            grants=tuple((rule.pattern, tuple(sorted(rule.verbs))) for rule in rules),
        )

    def _day(self, number: int, midnight: datetime) -> None:
        self.today = number
        # The first day begins when the tenant is founded, which may be late; nothing ever happens before it.
        at = max(datetime.combine(midnight.date(), time(7), tzinfo=midnight.tzinfo), self.latest)
        visits = [player for player in self.cast.players for _ in range(self._visits(player))]
        self.rng.shuffle(visits)
        for index, player in enumerate(visits):
            at += timedelta(minutes=self.rng.randint(5, 45))
            if at >= self.end:
                break
            with clock.moved_to(at):
                self._visit(player, f"{self.cast.slug[:2]}-{number:02}-{index:02}")
        evening = at + timedelta(hours=1)
        self.latest = min(max(midnight.replace(hour=23, minute=0), evening), self.end)
        with clock.moved_to(min(evening, self.end)):
            self._review(number)
        with clock.moved_to(self.latest):
            self._night(number)

    def _visits(self, player: Player) -> int:
        whole, part = divmod(player.visits_per_day, 1)
        return int(whole) + (self.rng.random() < part)

    def _visit(self, player: Player, session: str) -> None:
        """One session of an agent: ask, use, learn, sometimes ask to share."""
        agent = self.agents[player.name]
        with tenant_context(self.tenant.id):
            AgentKey.objects.filter(id=agent.key_id).update(last_used_at=clock.now())
        query = lines.question(self.rng, self.cast)
        found = memory_retrieve(agent, RetrieveRequest(query=query, session=session, limit=5))
        used = [entry.found.id for entry in found.entries[:3] if self.rng.random() < 0.8]
        if self.rng.random() < 0.85:
            usage_report(agent, found.manifest.id, used)
        for _ in range(self.rng.choice((1, 2, 2, 3))):
            self._say(agent, player, session)

    def _say(self, agent: Principal, player: Player, session: str, what: lines.Line | None = None) -> None:
        line = dict(what or self._line(player))
        line.setdefault("scope", f"agent:{player.role}" if line.get("origin") != "model_inferred" else None)
        if player.trust_ceiling < 1 and str(line.get("scope", "")).startswith("project:"):
            line["scope"] = f"agent:{player.role}"  # it may propose to projects, not write there
        outcome = memory_write(agent, WriteRequest(**line, session=session))
        memory = outcome.memory
        if (
            memory is not None
            and memory.status == "live"
            and self.rng.random() < (0.5 if self.today >= self.lately else _PROPOSE)
        ):
            self._propose(agent, player, memory)

    def _line(self, player: Player) -> lines.Line:
        makers: list[tuple[lines.Maker, int]] = [*lines.COMMON, *lines.PROJECT]
        if any(grant.startswith("user:*=rw") for grant in player.grants):
            makers += lines.CUSTOMERS
        maker = self.rng.choices([one for one, _ in makers], [weight for _, weight in makers])[0]
        before = self.said.setdefault(f"{player.project}/{maker.__name__}", [])
        if before and self.rng.random() < _REPEAT:
            return self.rng.choice(before)
        line = maker(self.rng, self.cast, player)
        before.append(line)
        return line

    def _propose(self, agent: Principal, player: Player, memory: Memory) -> None:
        target = Scope(ScopeKind.SHARED)
        if memory.scope.startswith("agent:") and self.rng.random() < 0.5:
            target = Scope(ScopeKind.PROJECT, player.project)
        try:
            promotion.promotion_request(
                agent, memory.id, target, "other agents keep asking for this", version=memory.version
            )
        except ServiceError:
            return  # already asked, or not wider: an agent lives with that

    def _review(self, day: int) -> None:
        """A reviewer's day: most of what waits is settled, what came in the last days still waits."""
        if day >= self.lately:
            return
        reviewer = self.people["reviewer" if day % 3 else "admin"]
        self._decide(reviewer)
        if day % 2:
            self._settle(reviewer)
        else:
            self._clear(reviewer)
        if day in (30, 55):
            self._bring_back(reviewer)
        if day in (20, 40):
            self._pin(reviewer)

    def _decide(self, reviewer: Principal) -> None:
        """Promotions: two of three are approved."""
        with tenant_context(self.tenant.id):
            pending = list(PromotionRequest.objects.filter(status="pending").order_by("created_at")[:4])
        for request in pending:
            if self.rng.random() < 0.2:
                continue
            action = self.rng.choices(("approve", "reject"), (7, 3))[0]
            reason = "checked with the crew" if action == "approve" else "true for one case only"
            try:
                promotion_decide.promotion_decide(
                    reviewer, request.id, action, reason=reason, version=request.version
                )
            except ServiceError:
                continue  # it went stale; the next look shows it as it is

    def _settle(self, reviewer: Principal) -> None:
        """Contradictions and likenesses: mostly the newer one is right."""
        with tenant_context(self.tenant.id):
            waiting = list(Contradiction.objects.filter(status="open").order_by("created_at", "id")[:3])
        for found in waiting:
            action = self.rng.choices(("keep_b", "keep_a", "keep_both"), (6, 2, 1))[0]
            try:
                contradictions.contradiction_settle(
                    reviewer, found.id, action, "asked the crew that owns it", version=found.version
                )
            except ServiceError:
                continue  # one of the two is gone meanwhile

    def _clear(self, reviewer: Principal) -> None:
        """Quarantine: the oldest is judged after some weeks, and what only reads like an order is let go."""
        with tenant_context(self.tenant.id):
            old = Memory.objects.filter(status="quarantined", status_changed_at__lt=clock.now() - _HELD_FOR)
            held = old.order_by("status_changed_at", "id").first()
        if held is None:
            return
        if held.content.startswith("This worked"):
            try:
                quarantine.quarantine_release(reviewer, held.id, "a note of our own", version=held.version)
                return
            except ServiceError:
                pass  # somebody else said so meanwhile: one is enough
        quarantine.quarantine_delete(reviewer, held.id, "tries to give orders", version=held.version)

    def _bring_back(self, reviewer: Principal) -> None:
        with tenant_context(self.tenant.id):
            gone = Memory.objects.filter(status="evicted").order_by("-status_changed_at").first()
        if gone is not None:
            try:
                retention.memory_restore(reviewer, gone.id, "still needed for the autumn fair")
            except ServiceError:
                return

    def _pin(self, reviewer: Principal) -> None:
        with tenant_context(self.tenant.id):
            used = Memory.objects.filter(status="live", pinned_at=None).order_by("-use_count", "id").first()
        if used is not None:
            retention.memory_pin(reviewer, used.id, "the crew relies on this every day")

    def _clash(self) -> None:
        """An agent hears something else than it knows, on worse evidence: whatever chance brought, this one waits."""
        player = self.cast.players[0]
        heard: dict[str, Any] = {
            "subject": f"system:{self.cast.systems[0]}", "predicate": "region", "scope": f"project:{player.project}",
        }  # fmt: skip
        for value, origin in (("north-cove", "tool_verified"), ("south-cove", "tool_output")):
            memory_write(self.agents[player.name], WriteRequest(value=value, origin=origin, **heard))

    def _mount(self) -> None:
        """The repository of the first project begins to declare what everyone in it should know."""
        project = self.cast.projects[0]
        content = {
            "name": f"{self.cast.slug}/{project}",
            "scopes": [f"project:{project}"],
            "entries": [{"content": sentence} for sentence in self.cast.declared],
        }
        document = json.dumps(content, indent=1).encode()
        call = MountCall(commit=sha256(b"commit" + document).hexdigest()[:40], by="the demo's pipeline")
        mount_apply(system(self.tenant.id, "demo.mount"), document, call)

    def _night(self, day: int) -> None:
        if day == self.days - 10:
            self._mount()
        if day == self.lately:
            self._clash()
        for sweep in (sweep_expiry, sweep_decay, sweep_compaction, sweep_health):
            sweep(self.tenant.id)
        if day % 15 == 14:
            sweep_chain(self.tenant.id)
        if day == self.days // 2:
            document = Policy().model_dump(mode="json")
            document["decay"]["floor"] = 0.2
            policy_activate(
                self.people["admin"], document, "forget unused notes sooner: searches were crowded"
            )

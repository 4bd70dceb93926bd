"""Who plays in the demo: tenants, their people, agents and what each works on.  All of it is made up."""

from __future__ import annotations

from dataclasses import dataclass

PASSWORD = "open-the-lantern-room"


@dataclass(frozen=True, slots=True)
class Player:
    """A demo agent: its role, grants, the project it mostly works in, and how much it may be trusted."""

    name: str
    role: str
    project: str
    grants: tuple[str, ...]
    trust_ceiling: float = 1.0
    visits_per_day: float = 0.8


@dataclass(frozen=True, slots=True)
class Cast:
    """One demo tenant."""

    slug: str
    name: str
    customers: int
    systems: tuple[str, ...]
    projects: tuple[str, ...]
    players: tuple[Player, ...]
    declared: tuple[str, ...]
    """What the repository of the first project declares."""

    def address(self, role: str) -> str:
        """The sign-in of the tenant's demo person with this role."""
        return f"{role}@{self.slug}.example"


ROLES = ("owner", "admin", "reviewer", "auditor")

LANTERN = Cast(
    slug="demo",
    name="Lanternworks (demo)",
    customers=14,
    systems=("glow-api", "wick-queue", "shade-store", "ember-cache", "paper-press", "dusk-gateway"),
    projects=("storefront", "workshop", "lamplight"),
    players=(
        Player(
            "triage-moth",
            "support",
            "storefront",
            ("project:storefront=rwp", "user:*=rwp"),
            visits_per_day=1.5,
        ),
        Player(
            "invoice-beetle",
            "billing",
            "storefront",
            ("project:storefront=rwp", "user:*=rwp"),
            visits_per_day=1.0,
        ),
        Player("deploy-heron", "deploy", "lamplight", ("project:lamplight=rwp", "project:workshop=r")),
        Player("kiln-otter", "build", "workshop", ("project:workshop=rwp", "project:lamplight=r")),
        Player("scout-magpie", "research", "workshop", ("project:*=rp",), trust_ceiling=0.6),
        Player("chief-owl", "orchestrator", "lamplight", ("project:*=rwp", "user:*=r"), visits_per_day=0.5),
    ),
    declared=(
        "Refunds of storefront orders above 50 euros need a second approval.",
        "Releases of the storefront are signed off by two people of the crew.",
    ),
)

QUILL = Cast(
    slug="quillharbor",
    name="Quillharbor Library (demo)",
    customers=5,
    systems=("card-catalog", "tide-index", "shelf-mapper", "ink-scanner"),
    projects=("archive", "reading-room"),
    players=(
        Player("desk-finch", "support", "reading-room", ("project:reading-room=rwp", "user:*=rwp")),
        Player("shelf-badger", "build", "archive", ("project:archive=rwp",)),
        Player(
            "margin-crab", "research", "archive", ("project:*=rp",), trust_ceiling=0.6, visits_per_day=0.5
        ),
        Player("chief-heron", "orchestrator", "archive", ("project:*=rwp", "user:*=r"), visits_per_day=0.4),
    ),
    declared=("Scans of the archive are kept in two copies, one of them away from the harbour.",),
)

CASTS = (LANTERN, QUILL)

"""Who acts: an agent by its key, a member by a session, or a system job by its name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Principal:
    """An acting party inside one tenant.

    ``kind`` is ``agent``, ``member`` or ``system``; ``id`` and ``name`` go into the audit as text, so that
    history stays readable when the party is gone.
    """

    tenant_id: UUID
    kind: str
    id: str
    name: str
    role: str = ""
    agent_id: UUID | None = None
    key_id: UUID | None = None
    trust_ceiling: float = 1.0
    grants: tuple[tuple[str, tuple[str, ...]], ...] = field(default=())
    networks: tuple[str, ...] = ()
    """From where its key may be used; from anywhere when there are none."""
    request_id: str = ""
    along: Any = field(default=None, compare=False)
    """What was asked for along with its key (`tenants.authentication`): of the instant when it was presented."""

    # What Django REST framework asks of a user.
    @property
    def is_authenticated(self) -> bool:
        return True


def system(tenant_id: UUID, job: str, request_id: str = "") -> Principal:
    """A background job or command, by name (``sweep.decay``)."""
    return Principal(
        tenant_id=tenant_id, kind="system", id=job, name=job, role="system", request_id=request_id
    )

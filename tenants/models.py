"""Who and whose: tenants, people, memberships, agents, their keys and grants.  Never imports memory.

Every table of a tenant has the primary key (tenant_id, id).  References between such tables are plain
columns here; the migrations tie them with foreign keys on (tenant_id, column).
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.crypto import salted_hmac

from memgov import clock
from memgov.ids import new_id
from tenants.context import TenantMismatch, current_tenant_id
from tenants.managers import TenantManager

# Without vowels (no words by accident) and without look-alikes.
_HANDLE_LETTERS = "bcdfghjkmnpqrstvwxyz23456789"


def new_handle() -> str:
    """Eight random letters: the public half of a key, or of a tenant inside its keys."""
    return "".join(secrets.choice(_HANDLE_LETTERS) for _ in range(8))


class Tenant(models.Model):
    """A customer boundary.  The one table that tenant tables refer to plainly."""

    class Status(models.TextChoices):
        ACTIVE = "active"
        SUSPENDED = "suspended"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    slug = models.SlugField(max_length=63, unique=True)
    name = models.CharField(max_length=200)
    handle = models.CharField(max_length=8, unique=True, default=new_handle, editable=False)
    status = models.CharField(max_length=20, choices=Status.choices, default=Status.ACTIVE)
    is_demo = models.BooleanField(default=False)
    # The zone of the tenant's days and off-peak hours, for people who chose none of their own.
    time_zone = models.CharField(max_length=64, default="UTC", db_default="UTC")
    # When everything of the tenant goes for good; until then it can be called off.
    deletes_at = models.DateTimeField(null=True, blank=True)
    deletion_asked_by = models.CharField(max_length=200, default="", db_default="", blank=True)
    created_at = models.DateTimeField(default=clock.now)

    def __str__(self) -> str:
        return self.name


class UserManager(BaseUserManager["User"]):
    """Makes people; e-mail addresses are compared in lower case."""

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> User:
        user = self.model(email=email.strip().lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user


class User(AbstractBaseUser):
    """A person.  Belongs to tenants through memberships; an operator stands outside them."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    email = models.EmailField(unique=True)
    name = models.CharField(max_length=200, blank=True)
    is_operator = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True)
    # Empty: the zone of the browser.
    time_zone = models.CharField(max_length=64, default="", db_default="", blank=True)
    # Empty: the language that the browser asks for.
    language = models.CharField(max_length=16, default="", db_default="", blank=True)
    # Keyboard shortcuts of one key can be switched off (WCAG 2.1.4).
    shortcuts = models.BooleanField(default=True, db_default=True)
    # Raised to end every session of the person at once, wherever it is open.
    session_epoch = models.IntegerField(default=0, db_default=0)
    date_joined = models.DateTimeField(default=clock.now)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []
    objects = UserManager()

    def __str__(self) -> str:
        return self.name or self.email

    def get_short_name(self) -> str:
        return str(self)

    def get_session_auth_hash(self) -> str:
        """What a session has to hold to be this person's: Django's own, and the epoch once it was raised."""
        return self._of_epoch(super().get_session_auth_hash())

    def get_session_auth_fallback_hash(self) -> Iterator[str]:
        """The same for secrets that are being rotated out."""
        return (self._of_epoch(one) for one in super().get_session_auth_fallback_hash())

    def _of_epoch(self, text: str) -> str:
        if not self.session_epoch:
            return text
        return salted_hmac("memgov.session", f"{text}.{self.session_epoch}", algorithm="sha256").hexdigest()


class TenantModel(models.Model):
    """The shape of every tenant table."""

    pk = models.CompositePrimaryKey("tenant_id", "id")
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+", db_index=False)
    id = models.UUIDField(default=new_id, editable=False)

    objects: ClassVar[TenantManager[Any]] = TenantManager()

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Saves into the current tenant only."""
        current = current_tenant_id()
        if self.tenant_id is None:
            self.tenant_id = current
        if self.tenant_id != current:
            raise TenantMismatch(f"a row of tenant {self.tenant_id} inside tenant {current}")
        super().save(*args, **kwargs)


class Role(models.TextChoices):
    """What a member may do; each role includes the ones below it, but an auditor only reads."""

    OWNER = "owner"
    ADMIN = "admin"
    REVIEWER = "reviewer"
    AUDITOR = "auditor"


class Membership(TenantModel):
    """A person in a tenant.  No foreign key to the person: members are kept by id and address."""

    user_id = models.UUIDField()
    email = models.EmailField()
    name = models.CharField(max_length=200, blank=True)
    role = models.CharField(max_length=20, choices=Role.choices)
    # Views of the queues that the person gave a name: [{queue, name, view, q, sort}].
    saved_views = models.JSONField(default=list, db_default=[])
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "user_id"], name="one_membership")]
        base_manager_name = "objects"


class Invitation(TenantModel):
    """An open door for one address; only the hash of its link's secret half is kept.

    Open until it is accepted, taken back, or over; `mailed` says that the present link went to the address itself.
    """

    email = models.EmailField()
    role = models.CharField(max_length=20, choices=Role.choices)
    prefix = models.CharField(max_length=8, default=new_handle)
    secret_hash = models.BinaryField()
    invited_by = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(default=clock.now)
    sent_at = models.DateTimeField(default=clock.now)
    mailed = models.BooleanField(default=False)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "prefix"], name="one_invitation_prefix"),
            models.UniqueConstraint(
                fields=["tenant", "email"],
                condition=models.Q(accepted_at=None, revoked_at=None),
                name="one_open_invitation",
            ),
        ]


class Agent(TenantModel):
    """A machine that writes and reads memory."""

    name = models.CharField(max_length=100)
    role = models.CharField(max_length=50)
    description = models.TextField(blank=True)
    paused_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "name"], name="one_agent_name")]


class AgentKey(TenantModel):
    """A credential of an agent; only the hash of its secret half is kept."""

    agent_id = models.UUIDField()
    name = models.CharField(max_length=100, blank=True)
    prefix = models.CharField(max_length=8, default=new_handle)
    secret_hash = models.BinaryField()
    trust_ceiling = models.FloatField(default=1.0)
    # Networks that may use the key, as CIDR; empty: every address.
    networks = ArrayField(models.CharField(max_length=43), default=list, db_default=[])
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    created_by = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "prefix"], name="one_key_prefix"),
            models.CheckConstraint(
                condition=models.Q(trust_ceiling__gte=0, trust_ceiling__lte=1), name="trust_ceiling_in_bounds"
            ),
        ]
        indexes = [models.Index(fields=["tenant", "agent_id"], name="key_by_agent")]


class Grant(TenantModel):
    """A right on the scopes that a pattern matches, for one agent or for an agent role."""

    agent_id = models.UUIDField(null=True, blank=True)
    agent_role = models.CharField(max_length=50, blank=True)
    pattern = models.CharField(max_length=200)
    verbs = ArrayField(models.CharField(max_length=10))
    created_by = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "agent_id", "agent_role", "pattern"], name="one_grant", nulls_distinct=False
            ),
            models.CheckConstraint(
                condition=models.Q(agent_id__isnull=False, agent_role="")
                | (models.Q(agent_id__isnull=True) & ~models.Q(agent_role="")),
                name="grant_names_agent_or_role",
            ),
        ]

"""What a tenant's words mean: other names of subjects, and rules of predicates.  Rules: `memory.domain.registry`."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from memgov import clock
from tenants.models import TenantModel


class SubjectAlias(TenantModel):
    """Another name of a subject: whoever writes `alias` means `subject`."""

    alias = models.CharField(max_length=300)
    subject = models.CharField(max_length=300)
    created_by = models.CharField(max_length=200)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "alias"], name="one_alias")]
        indexes = [models.Index(fields=["tenant", "subject"], name="alias_by_subject")]


class PredicateSetting(TenantModel):
    """The tenant's own rule of a predicate; it comes before the built-in one of the same name."""

    name = models.CharField(max_length=300)
    single_valued = models.BooleanField(default=False)
    volatile = models.BooleanField(default=False)
    normaliser = models.CharField(max_length=20, default="text")
    ages = models.BooleanField(default=True)
    half_life_days = models.FloatField(null=True)
    aliases = ArrayField(models.CharField(max_length=300), default=list)
    updated_by = models.CharField(max_length=200)
    updated_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "name"], name="one_predicate")]


class VocabularyHead(TenantModel):
    """The version of a tenant's vocabulary: it rises with every change, so that it can be kept in memory."""

    version = models.IntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant"], name="one_vocabulary_head")]

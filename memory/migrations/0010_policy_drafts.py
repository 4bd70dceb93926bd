"""Drafts of policies."""

import django.db.models.deletion
from django.db import migrations, models

import memgov.clock
import memgov.ids
from tenants.rls import secure


class Migration(migrations.Migration):
    dependencies = [("memory", "0009_shown_in"), ("tenants", "0002_boundary")]

    operations = [
        migrations.CreateModel(
            name="PolicyDraft",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "tenant_id", "id", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("id", models.UUIDField(default=memgov.ids.new_id, editable=False)),
                ("name", models.CharField(max_length=100)),
                ("document", models.JSONField(default=dict)),
                ("version", models.IntegerField(default=1)),
                ("based_on", models.IntegerField(default=0)),
                ("history", models.JSONField(default=list)),
                ("created_by", models.CharField(max_length=200)),
                ("created_at", models.DateTimeField(default=memgov.clock.now)),
                ("updated_by", models.CharField(max_length=200)),
                ("updated_at", models.DateTimeField(default=memgov.clock.now)),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="tenants.tenant",
                    ),
                ),
            ],
            options={"indexes": [models.Index(fields=["tenant", "-updated_at"], name="drafts_by_time")]},
        ),
        *secure("memory_policydraft"),
    ]

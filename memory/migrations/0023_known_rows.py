"""What a write is compared with, found by its key or its text instead of among all live rows of its scope."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0022_job_takes"),
        ("tenants", "0006_language"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(
                condition=models.Q(
                    ("status__in", ("live", "contested")), models.Q(("predicate", ""), _negated=True)
                ),
                fields=["tenant", "scope", "subject", "predicate"],
                name="memory_live_key",
            ),
        ),
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(
                condition=models.Q(("predicate", ""), ("status__in", ("live", "contested"))),
                fields=["tenant", "scope", "value_hash"],
                name="memory_live_text",
            ),
        ),
    ]

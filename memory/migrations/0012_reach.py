"""What a search for the reach of a memory reads: the memories that were derived from something, and jobs by kind."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memory", "0011_health_days_and_samples")]

    operations = [
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(
                condition=models.Q(("derived_from", []), _negated=True),
                fields=["tenant", "id"],
                name="derived_rows",
            ),
        ),
        migrations.AddIndex(
            model_name="job",
            index=models.Index(fields=["tenant", "kind", "-created_at"], name="jobs_by_kind"),
        ),
    ]

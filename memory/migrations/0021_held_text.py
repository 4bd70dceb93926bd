"""Finds what waits with the same text, so that an import's rows do not read all that wait. Holds no live memory."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memory", "0020_page_indexes")]

    operations = [
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(
                condition=models.Q(("status__in", ["candidate", "quarantined"])),
                fields=["tenant", "value_hash"],
                name="memory_held_text",
            ),
        ),
    ]

"""What a person may have to decide about a run of a sweep, and what became of it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memory", "0012_reach")]

    operations = [
        migrations.AddField(model_name="sweeprun", name="details", field=models.JSONField(default=dict)),
    ]

"""How often a job was begun without getting further, so that one that kills its workers is given up."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memory", "0021_held_text")]

    operations = [
        migrations.AddField(model_name="job", name="takes", field=models.IntegerField(default=0)),
    ]

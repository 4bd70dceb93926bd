"""The language that a person reads pages and mails in."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0005_saved_views"),
    ]

    operations = [
        migrations.AddField(
            model_name="user",
            name="language",
            field=models.CharField(blank=True, db_default="", default="", max_length=16),
        ),
    ]

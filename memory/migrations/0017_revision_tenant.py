"""A revision belongs to the tenant of its memory, which its own foreign key holds: no second check for each change."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memory", "0016_promotion_notes"), ("tenants", "0001_initial")]

    operations = [
        migrations.AlterField(
            model_name="revision",
            name="tenant",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="tenants.tenant",
            ),
        ),
    ]

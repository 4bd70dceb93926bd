"""What the pages of the queues walk along: the order of each view, so that no page reads all rows.

None of these indexes holds a live memory (a pinned one apart), so that a write pays nothing for them.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0019_append_many"),
        ("tenants", "0006_language"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="contradiction",
            name="contradiction_queue",
        ),
        migrations.RemoveIndex(
            model_name="promotionrequest",
            name="promotion_queue",
        ),
        migrations.AddIndex(
            model_name="contradiction",
            index=models.Index(fields=["tenant", "status", "-created_at", "-id"], name="contradiction_queue"),
        ),
        migrations.AddIndex(
            model_name="contradiction",
            index=models.Index(
                condition=models.Q(("status", "open"), _negated=True),
                fields=["tenant", "-created_at", "-id"],
                name="contradiction_settled",
            ),
        ),
        migrations.AddIndex(
            model_name="contradiction",
            index=models.Index(
                condition=models.Q(("status", "open"), _negated=True),
                fields=["tenant", "-resolved_at", "-id"],
                name="contradiction_resolved",
            ),
        ),
        migrations.AddIndex(
            model_name="contradiction",
            index=models.Index(
                condition=models.Q(("status", "open")),
                fields=["tenant", "kind", "-created_at", "-id"],
                name="contradiction_by_kind",
            ),
        ),
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(
                condition=models.Q(("status__in", ["evicted", "archived", "expired", "deleted"])),
                fields=["tenant", "-status_changed_at", "-id"],
                name="memory_removed",
            ),
        ),
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(
                condition=models.Q(
                    ("status__in", ["quarantined", "evicted", "archived", "expired", "deleted"])
                ),
                fields=["tenant", "status", "-status_changed_at", "-id"],
                name="memory_by_change",
            ),
        ),
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(
                condition=models.Q(("pinned_at__isnull", False)),
                fields=["tenant", "id"],
                name="memory_pinned",
            ),
        ),
        migrations.AddIndex(
            model_name="promotionnote",
            index=models.Index(fields=["tenant", "actor_id", "kind"], name="note_by_actor"),
        ),
        migrations.AddIndex(
            model_name="promotionrequest",
            index=models.Index(fields=["tenant", "status", "-created_at", "-id"], name="promotion_queue"),
        ),
        migrations.AddIndex(
            model_name="promotionrequest",
            index=models.Index(
                condition=models.Q(("status", "pending")),
                fields=["tenant", "risk", "-created_at", "-id"],
                name="promotion_by_risk",
            ),
        ),
        migrations.AddIndex(
            model_name="promotionrequest",
            index=models.Index(
                condition=models.Q(("status", "pending"), _negated=True),
                fields=["tenant", "-created_at", "-id"],
                name="promotion_closed",
            ),
        ),
        migrations.AddIndex(
            model_name="promotionrequest",
            index=models.Index(
                condition=models.Q(("status", "pending"), _negated=True),
                fields=["tenant", "-decided_at", "-id"],
                name="promotion_decided",
            ),
        ),
        migrations.AddIndex(
            model_name="promotionrequest",
            index=models.Index(
                models.F("tenant"),
                models.OrderBy(
                    models.Case(
                        models.When(risk="high", then=2), models.When(risk="medium", then=1), default=0
                    ),
                    descending=True,
                ),
                models.OrderBy(models.F("id"), descending=True),
                condition=models.Q(("status", "pending")),
                name="promotion_risk_rank",
            ),
        ),
        migrations.AddIndex(
            model_name="promotionrequest",
            index=models.Index(
                models.F("tenant"),
                models.OrderBy(
                    models.Case(
                        models.When(then=0, to_scope__startswith="session"),
                        models.When(then=1, to_scope__startswith="task"),
                        models.When(then=2, to_scope__startswith="agent"),
                        models.When(then=3, to_scope__startswith="user"),
                        models.When(then=4, to_scope__startswith="project"),
                        models.When(then=5, to_scope__startswith="shared"),
                        models.When(then=6, to_scope__startswith="global"),
                        default=0,
                    ),
                    descending=True,
                ),
                models.OrderBy(models.F("id"), descending=True),
                condition=models.Q(("status", "pending")),
                name="promotion_reach_rank",
            ),
        ),
        migrations.AddIndex(
            model_name="revision",
            index=models.Index(
                condition=models.Q(("event__in", ["memory.released", "memory.discarded"])),
                fields=["tenant", "actor", "-at"],
                name="revision_of_decision",
            ),
        ),
    ]

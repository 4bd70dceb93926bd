"""The addresses below /api/v1/."""

from __future__ import annotations

from django.urls import path

from memory.api.views import (
    coming_back,
    deleting,
    describing,
    memories,
    promoting,
    reach,
    reading,
    watching,
    working,
    writing,
)

app_name = "api"

urlpatterns = [
    # First what agents call most: addresses are tried in this order.
    path("memories", memories.Memories.as_view(), name="memories"),
    path("retrieve", reading.Retrieve.as_view(), name="retrieve"),
    path("digest", reading.Digest.as_view(), name="digest"),
    path("whoami", watching.WhoAmI.as_view(), name="whoami"),
    path("memories/batch", writing.Batch.as_view(), name="memories-batch"),
    path("memories/check", writing.Check.as_view(), name="memories-check"),
    path("memories/delete", deleting.DeleteMany.as_view(), name="memories-delete"),
    path(
        "memories/delete/<str:deletion_id>/undo", deleting.DeletionUndo.as_view(), name="memories-delete-undo"
    ),
    path("memories/<str:memory_id>", memories.OneMemory.as_view(), name="memory"),
    path("memories/<str:memory_id>/revisions", memories.Revisions.as_view(), name="revisions"),
    path("memories/<str:memory_id>/derived", coming_back.Derived.as_view(), name="derived"),
    path("memories/<str:memory_id>/restore", coming_back.Restore.as_view(), name="restore"),
    path("memories/<str:memory_id>/verify", memories.Verify.as_view(), name="verify"),
    path("manifests/<str:manifest_id>", reading.OneManifest.as_view(), name="manifest"),
    path("manifests/<str:manifest_id>/usage", reading.Usage.as_view(), name="usage"),
    path("promotions", promoting.Promotions.as_view(), name="promotions"),
    path("promotions/<str:promotion_id>", promoting.OnePromotion.as_view(), name="promotion"),
    path("promotions/<str:promotion_id>/answer", promoting.Answer.as_view(), name="promotion-answer"),
    path("promotions/<str:promotion_id>/withdraw", promoting.Withdraw.as_view(), name="withdraw"),
    path("tasks/<str:task>/working", working.WorkingValues.as_view(), name="working-values"),
    path("tasks/<str:task>/working/<str:key>", working.OneWorkingValue.as_view(), name="working-value"),
    path("tasks/<str:task>/complete", working.Complete.as_view(), name="task-complete"),
    path("tasks/<str:task>/rollback", working.Rollback.as_view(), name="task-rollback"),
    path("tasks/<str:task>/rollback/undo", working.RollbackUndo.as_view(), name="task-rollback-undo"),
    path("sessions/<str:session>/end", working.SessionEnd.as_view(), name="session-end"),
    path("health", watching.Health.as_view(), name="health"),
    path("audit", watching.Audit.as_view(), name="audit"),
    path("jobs/<str:job_id>", watching.OneJob.as_view(), name="job"),
    path("blast", reach.Blast.as_view(), name="blast"),
    path("blast/quarantine", reach.BlastQuarantine.as_view(), name="blast-quarantine"),
    path("blast/steps/<str:step_id>/undo", reach.BlastUndo.as_view(), name="blast-undo"),
    path("schema/", describing.schema, name="schema"),
    path("docs/", describing.docs, name="docs"),
]

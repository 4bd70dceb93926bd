"""Addresses of the pages.  What belongs to a tenant lies below /t/<slug>/."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from memory.pages import (
    agent_keys,
    agents,
    alert_settings,
    alerts,
    audit,
    blast,
    contradictions,
    deletion,
    demo,
    erasure,
    evictions,
    front,
    health,
    invite,
    manifest,
    manifests,
    me,
    members,
    memories,
    memory_acts,
    memory_new,
    mounts,
    ops,
    policies,
    policy_drafts,
    policy_fields,
    policy_previews,
    promotion_talk,
    promotions,
    promotions_bulk,
    quarantine,
    restore,
    sample,
    saved_views,
    scope_grant,
    scopes,
    settings,
    start,
    sweeps,
    transfers,
    verify,
    vocabulary,
)

app_name = "pages"

_promotions = [
    path("", promotions.index, name="promotions"),
    path("bulk/", promotions_bulk.bulk, name="promotions-bulk"),
    path("bulk/undo/", promotions_bulk.undo, name="promotions-bulk-undo"),
    path("<str:item>/", promotions.one, name="promotion"),
    path("<str:item>/decide/", promotions.decide, name="promotion-decide"),
    path("<str:item>/snooze/", promotion_talk.snooze, name="promotion-snooze"),
    path("<str:item>/ask/", promotion_talk.ask, name="promotion-ask"),
]
_contradictions = [
    path("", contradictions.index, name="contradictions"),
    path("<str:item>/", contradictions.one, name="contradiction"),
    path("<str:item>/decide/", contradictions.decide, name="contradiction-decide"),
    path("<str:item>/undo/", contradictions.undo, name="contradiction-undo"),
]
_quarantine = [
    path("", quarantine.index, name="quarantine"),
    path("<str:item>/", quarantine.one, name="quarantined"),
    path("<str:item>/decide/", quarantine.decide, name="quarantine-decide"),
    path("<str:item>/undo/", quarantine.undo, name="quarantine-undo"),
]
_memories = [
    path("", memories.index, name="memories"),
    path("new/", memory_new.new, name="memory-new"),
    path("delete/", deletion.bulk, name="memories-delete"),
    path("deletions/<str:item>/", deletion.one, name="deletion"),
    path("deletions/<str:item>/undo/", deletion.undo, name="deletion-undo"),
    path("<str:item>/", memories.one, name="memory"),
    path("<str:item>/pin/", memory_acts.pin, name="memory-pin"),
    path("<str:item>/unpin/", memory_acts.unpin, name="memory-unpin"),
    path("<str:item>/admit/", memory_acts.admit, name="memory-admit"),
    path("<str:item>/verify/", memory_acts.verify, name="memory-verify"),
    path("<str:item>/restore/", restore.restore, name="memory-restore"),
    path("<str:item>/edit/", memory_acts.edit, name="memory-edit"),
    path("<str:item>/delete/", memory_acts.delete, name="memory-delete"),
]
_erasures = [
    path("", erasure.index, name="erasures"),
    path("<str:item>/", erasure.one, name="erasure"),
    path("<str:item>/receipt.json", erasure.receipt, name="erasure-receipt"),
]
_health = [
    path("", health.index, name="health"),
    path("figure.json", health.figure, name="health-figure"),
    path("series.csv", health.series_csv, name="health-csv"),
    path("series.json", health.series_json, name="health-json"),
    path("verify/", verify.index, name="verify"),
    path("verify/<str:item>/", verify.confirm, name="verify-confirm"),
    path("sample/", sample.index, name="sample"),
    path("sample/<str:item>/", sample.one, name="sampled"),
    path("sample/<str:item>/decide/", sample.decide, name="sample-decide"),
    path("sample/<str:item>/undo/", sample.undo, name="sample-undo"),
]
_audit = [
    path("", audit.index, name="audit"),
    path("events.csv", audit.export, name="audit-csv"),
    path("verify/", audit.verify, name="audit-verify"),
]
_imports = [
    path("", transfers.imports, name="imports"),
    path("<str:item>/", transfers.one_import, name="import"),
    path("<str:item>/run/", transfers.run, name="import-run"),
    path("<str:item>/undo/", transfers.undo, name="import-undo"),
    path("<str:item>/report.csv", transfers.report, name="import-report"),
]
_exports = [
    path("", transfers.exports, name="exports"),
    path("<str:item>/", transfers.one_export, name="export"),
    path("<str:item>/stop/", transfers.cancel, name="transfer-cancel"),
    path("<str:item>/file/", transfers.download, name="export-file"),
]
_blast = [
    path("", blast.index, name="blast"),
    path("quarantine/", blast.quarantine, name="blast-quarantine"),
    path("steps/<str:item>/", blast.one, name="blast-step"),
    path("steps/<str:item>/undo/", blast.undo, name="blast-undo"),
]
_sweeps = [
    path("", sweeps.index, name="sweeps"),
    path("<str:item>/", sweeps.one, name="sweep"),
    path("<str:item>/apply/", sweeps.apply, name="sweep-apply"),
    path("<str:item>/undo/", sweeps.undo, name="sweep-undo"),
]
_agents = [
    path("", agents.index, name="agents"),
    path("new/", agents.new, name="agent-new"),
    path("<str:item>/", agents.one, name="agent"),
    path("<str:item>/pause/", agents.pause, name="agent-pause"),
    path("<str:item>/keys/", agent_keys.create, name="agent-key-create"),
    path("<str:item>/keys/<str:key>/", agent_keys.one, name="agent-key"),
    path("<str:item>/keys/<str:key>/rotate/", agent_keys.rotate, name="agent-key-rotate"),
    path("<str:item>/keys/<str:key>/revoke/", agent_keys.revoke, name="agent-key-revoke"),
]
_members = [
    path("", members.index, name="members"),
    path("<str:item>/role/", members.role, name="member-role"),
    path("<str:item>/remove/", members.remove, name="member-remove"),
    path("invitations/<str:item>/resend/", members.resend, name="invitation-resend"),
    path("invitations/<str:item>/revoke/", members.revoke, name="invitation-revoke"),
]
_policies = [
    path("", policies.index, name="policies"),
    path("presets/", policy_drafts.presets, name="policy-presets"),
    path("drafts/new/", policy_drafts.new, name="policy-draft-new"),
    path("drafts/<str:item>/", policy_drafts.one, name="policy-draft"),
    path("drafts/<str:item>/text/", policy_drafts.text, name="policy-draft-text"),
    path("drafts/<str:item>/fields/", policy_fields.fields, name="policy-draft-fields"),
    path("drafts/<str:item>/activate/", policy_drafts.activate, name="policy-draft-activate"),
    path("drafts/<str:item>/discard/", policy_drafts.discard, name="policy-draft-discard"),
    path("drafts/<str:item>/preview/", policy_previews.begin, name="policy-preview-begin"),
    path("previews/<str:item>/", policy_previews.one, name="policy-preview"),
    path("<int:number>/", policies.one, name="policy"),
    path("<int:number>/roll-back/", policies.roll_back, name="policy-roll-back"),
]
_alerts = [
    path("", alerts.index, name="alerts"),
    path("settings/", alert_settings.index, name="alert-settings"),
    path("settings/channels/", alert_settings.channel_add, name="channel-add"),
    path("settings/channels/<str:item>/remove/", alert_settings.channel_remove, name="channel-remove"),
    path("settings/channels/<str:item>/switch/", alert_settings.channel_switch, name="channel-switch"),
    path("settings/channels/<str:item>/test/", alert_settings.channel_test, name="channel-test"),
    path("settings/messages/<str:item>/resend/", alert_settings.resend, name="alert-resend"),
    path("settings/rules/", alert_settings.rule_set, name="alert-rule"),
    path("<str:item>/acknowledge/", alerts.acknowledge, name="alert-acknowledge"),
    path("<str:item>/snooze/", alerts.snooze, name="alert-snooze"),
]
_vocabulary = [
    path("", vocabulary.index, name="vocabulary"),
    path("aliases/", vocabulary.alias, name="alias-set"),
    path("aliases/<str:item>/remove/", vocabulary.alias_gone, name="alias-remove"),
    path("predicates/", vocabulary.predicate, name="predicate-set"),
    path("predicates/<str:item>/remove/", vocabulary.predicate_gone, name="predicate-remove"),
]
_tenant: list[URLPattern | URLResolver] = [
    path("", start.index, name="start"),
    path("promotions/", include(_promotions)),
    path("decisions/<str:decision>/undo/", promotions.undo, name="promotion-undo"),
    path("decisions/<str:decision>/take-back/", promotions.take_back, name="promotion-take-back"),
    path("contradictions/", include(_contradictions)),
    path("quarantine/", include(_quarantine)),
    path("blast/", include(_blast)),
    path("imports/", include(_imports)),
    path("exports/", include(_exports)),
    path("evictions/", evictions.index, name="evictions"),
    path("evictions/<str:item>/restore/", evictions.restore, name="eviction-restore"),
    path("evictions/<str:item>/let-go/", restore.let_go, name="eviction-let-go"),
    path("memories/", include(_memories)),
    path("manifests/", manifests.index, name="manifests"),
    path("manifests/<str:item>/", manifest.one, name="manifest"),
    path("mounts/", mounts.index, name="mounts"),
    path("mounts/<str:item>/", mounts.one, name="mount"),
    path("health/", include(_health)),
    path("alerts/", include(_alerts)),
    path("erasures/", include(_erasures)),
    path("sweeps/", include(_sweeps)),
    path("audit/", include(_audit)),
    path("agents/", include(_agents)),
    path("members/", include(_members)),
    path("views/save/", saved_views.save, name="view-save"),
    path("views/drop/", saved_views.drop, name="view-drop"),
    path("scopes/", scopes.index, name="scopes"),
    path("scopes/grant/", scope_grant.grant, name="scope-grant"),
    path("settings/", settings.index, name="settings"),
    path("settings/rules/", settings.rules, name="settings-rules"),
    path("settings/delete/", settings.delete, name="tenant-delete"),
    path("settings/keep/", settings.keep, name="tenant-keep"),
    path("policies/", include(_policies)),
    path("vocabulary/", include(_vocabulary)),
]
urlpatterns = [
    path("", front.home, name="home"),
    path("help/", front.help_page, name="help"),
    path("tenants/", front.tenants, name="tenants"),
    path("theme/", front.theme, name="theme"),
    path("language/", front.language, name="language"),
    path("demo/", demo.index, name="demo"),
    path("me/", me.index, name="me"),
    path("me/sessions/end/", me.end, name="me-end"),
    path("ops/tenants/", ops.tenants, name="ops-tenants"),
    path("ops/tenants/<slug:slug>/suspend/", ops.suspend, name="ops-suspend"),
    path("invite/<str:token>/", invite.one, name="invite"),
    path("t/<slug:slug>/", include(_tenant)),
]

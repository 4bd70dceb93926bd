"""What an erasure does with each column that can hold words.  A new column has to be decided here."""

from __future__ import annotations

from typing import Final

from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.db.models import BinaryField, CharField, JSONField, TextField, UUIDField
from pgvector.django import HalfVectorField

WORDY: Final = (CharField, TextField, JSONField, BinaryField, ArrayField, HalfVectorField)

EMPTIED: Final = "emptied with its memory"
GOES: Final = "the row goes"
QUOTED: Final = "emptied where it quotes the subject, a given word, or an erased text"
CODE: Final = "a code, name or digest of ours, or of a person or agent who acted"
ADDRESS: Final = "an address of the tenant's own choosing: scope, session, task; it stays"
RULES: Final = "the tenant's own rules and settings, which hold no memory"
SEALED: Final = "encrypted; what waits to be written loses the subject, and it ends with its job"
CHAIN: Final = "append-only: texts are digests; reasons and scopes stay and are counted in the receipt"
UNDO: Final = "loses what concerns the erased memories"

COLUMNS: Final = {
    "memory_alert": {QUOTED: "message evidence note", CODE: "kind severity target acknowledged_by", ADDRESS: "scope"},
    "memory_alertchannel": {RULES: "kind address secret least disabled_why created_by"},
    "memory_alertdelivery": {QUOTED: "body error", CODE: "event status"},
    "memory_alertrule": {RULES: "metric tell updated_by", ADDRESS: "scope"},
    "memory_auditcheckpoint": {CODE: "hash"},
    "memory_auditevent": {
        CHAIN: "reason before after scope target_id",
        CODE: "actor_kind actor_id actor_name action target_kind request_id hash",
    },
    "memory_audithead": {CODE: "hash"},
    "memory_contradiction": {
        EMPTIED: "subject predicate evidence", UNDO: "undo",
        CODE: "kind status resolution resolved_by", ADDRESS: "scope",
    },
    "memory_healthsample": {},
    "memory_healthsnapshot": {CODE: "span figures spread", ADDRESS: "scope"},
    "memory_idempotencykey": {QUOTED: "answer", CODE: "key body_hash"},
    "memory_index": {GOES: "scope layer kind tags paths terms embedding model_id"},
    "memory_job": {QUOTED: "result error", SEALED: "request", CODE: "kind status actor_name"},
    "memory_manifest": {
        EMPTIED: "query_text query_hash block_digest", QUOTED: "request working",
        CODE: "kind agent_name agent_role block_format excluded excluded_ids", ADDRESS: "session task",
    },
    "memory_manifestentry": {EMPTIED: "source", CODE: "band channel scores verdict", ADDRESS: "scope"},
    "memory_memory": {
        EMPTIED: "subject predicate claim value content value_hash paths tags metadata tool input_hash status_reason"
        " findings pin_reason",
        CODE: "layer kind origin agent_name status pinned_by derived_from",
        ADDRESS: "scope session task also_learned_in",
    },
    "memory_mount": {RULES: "name sha256 commit applied_by scopes"},
    "memory_mountentry": {EMPTIED: "paths tags said"},
    "memory_mounthead": {},
    "memory_policydraft": {RULES: "name document history created_by updated_by"},
    "memory_policyversion": {RULES: "document reason changes created_by"},
    "memory_predicatesetting": {RULES: "name normaliser aliases updated_by"},
    "memory_promotiondecision": {EMPTIED: "reason", UNDO: "undo", CODE: "action actor_id actor_name"},
    "memory_promotionnote": {EMPTIED: "text", CODE: "kind actor_id actor_name"},
    "memory_promotionrequest": {
        EMPTIED: "reason risk_reasons", CODE: "trigger proposer_kind proposer_id proposer_name risk status",
        ADDRESS: "from_scope to_scope",
    },
    "memory_revision": {EMPTIED: "reason state", CODE: "event actor"},
    "memory_sampleitem": {EMPTIED: "reason", CODE: "verdict judged_by judged_by_id", ADDRESS: "scope"},
    "memory_scoperecord": {ADDRESS: "name", CODE: "kind"},
    "memory_subjectalias": {GOES: "alias subject created_by"},
    "memory_sweeprun": {QUOTED: "note", CODE: "name status details"},
    "memory_vocabularyhead": {},
    "memory_workingvalue": {
        GOES: "task key value summary origin session tool agent_name status findings",
    },
    "memory_workrun": {QUOTED: "result", UNDO: "undo", CODE: "kind agent_name status", ADDRESS: "name"},
    "memory_writedecision": {
        EMPTIED: "text findings", UNDO: "undo", CODE: "agent_name origin outcome reason rule request_id",
        ADDRESS: "session scope task",
    },
    "tenants_agent": {RULES: "name role description"},
    "tenants_agentkey": {RULES: "name prefix secret_hash networks created_by"},
    "tenants_grant": {RULES: "agent_role pattern verbs created_by"},
    "tenants_invitation": {RULES: "email role prefix secret_hash invited_by"},
    "tenants_membership": {QUOTED: "saved_views", CODE: "email name role"},
    "tenants_tenant": {RULES: "slug name handle status time_zone deletion_asked_by"},
    "tenants_user": {RULES: "password email name time_zone language"},
}  # fmt: skip


def wordy() -> dict[str, set[str]]:
    """Every column of ours that can hold words, by table."""
    models = [*apps.get_app_config("memory").get_models(), *apps.get_app_config("tenants").get_models()]
    return {
        model._meta.db_table: {
            str(field.column)
            for field in model._meta.concrete_fields
            if isinstance(field, WORDY) and not isinstance(field, UUIDField)
        }
        for model in models
    }


def test_columns__of_every_table__are_decided() -> None:
    decided = {table: set(" ".join(kinds.values()).split()) for table, kinds in COLUMNS.items()}
    assert decided == wordy()


def test_columns__said_to_be_looked_through__are() -> None:
    from memory.store.erasure_texts import LOOSE

    looked = {one.model._meta.db_table: {*one.texts, *one.jsons} for one in LOOSE}
    for table, kinds in COLUMNS.items():
        assert set(kinds.get(QUOTED, "").split()) <= looked.get(table, set()), table

"""What an agent should do about an outcome or an error: one short sentence for each code, none for what is well.

The codes are those of docs/write-pipeline.md and docs/api.md.
"""

from __future__ import annotations

from typing import Final

_OF_REASON: Final = {
    "untrusted_source": "State a true origin of higher trust, or write to your session or task.",
    "own_output": "Do not write back what memgov gave you.",
    "transient": "Keep it in your own working notes; remember only what will still hold next week.",
    "low_confidence": "Verify it first, or keep it in the session scope.",
    "low_importance": "Keep it in your own working notes.",
    "too_vague": "Say in a whole sentence what is true of whom.",
    "out_of_domain": "It does not belong into this memory; leave it out.",
    "already_expired": "Nothing to do.",
    "contains_secret": "Never send secrets; say where one is kept instead.",
    "contains_pii": "Leave the personal data out.",
    "contains_instruction": "Say what is so, not what to do; or let a person state it.",
    "second_opinion_unavailable": "Nothing; a reviewer decides.",
    "conflict": "Nothing; a person decides. Bring better evidence if you have it.",
    "contested": "Nothing; a person decides between the two values.",
}
_OF_OUTCOME: Final = {
    "stored": "",
    "superseded": "",
    "duplicate": "It is known already; nothing to do.",
    "near_duplicate": "It is known already in other words; nothing to do.",
    "echo": "This session was given it by memgov; do not write it back.",
    "held": "Nothing; readers get it only when a person releases it.",
    "rejected": "Do not send the same again.",
}
_OF_PROBLEM: Final = {
    "scope_denied": "Write to your own scope and use propose_promotion to ask for a wider one.",
    "not_found": "Check the id; it may be gone, or not for this key.",
    "version_conflict": "Call get_memory, look at what changed, and repeat with its version.",
    "version_required": "Call get_memory and pass its version.",
    "rate_limited": "Wait as long as retry_after says, then repeat.",
    "busy": "Repeat the same call after a moment.",
    "database_unavailable": "Repeat the same call after a moment, a write with its idempotency_key.",
    "no_answer_in_time": "Repeat the same call, a write with its idempotency_key.",
    "idempotency_in_flight": "Repeat the same call after a moment.",
    "idempotency_mismatch": "Use a new idempotency_key for a new request.",
    "unknown_field": "Call again with the arguments of the schema only.",
    "unknown_parameter": "Call again with the arguments of the schema only.",
    "invalid": "Correct the named arguments and call again.",
    "malformed": "Correct the arguments and call again.",
    "invalid_id": "Pass an id as memgov gave it, such as mem_ and 32 hexadecimal digits.",
    "invalid_scope": "Write a scope as project:alpha, user:42, agent:coder, session:s1, task:t1, shared or global.",
    "too_large": "Shorten it; keep the log elsewhere and remember what it says.",
    "place_taken": "Look again with get_memory.",
    "task_ended": "Use another task.",
    "mounted": "It is declared by a file of the repository; ask for a change there.",
    "agent_paused": "Stop writing; an admin has paused this agent.",
}


def about_outcome(outcome: str, reason: str | None) -> str:
    """What to do about an outcome of a write; the reason counts first."""
    return _OF_REASON.get(reason or "", "") or _OF_OUTCOME.get(outcome, "")


def about_problem(code: str, status: int) -> str:
    """What to do about an error."""
    if code in _OF_PROBLEM:
        return _OF_PROBLEM[code]
    if status >= 500:
        return "Repeat the same call after a moment, a write with its idempotency_key."
    return "Correct the call as the detail says." if status in (400, 413, 422) else ""

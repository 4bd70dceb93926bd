"""Sanitisation: secrets, personal data and directives in the texts of a candidate.

Pure functions, no database and no network. What is found is told with its span and rule; an empty answer
means that no rule matched and never that a text is safe.
"""

from memory.domain.sanitisation.directives import scan_directives
from memory.domain.sanitisation.model import (
    DirectiveFinding,
    Match,
    Reason,
    Sanitised,
    SanitiseRules,
    Verdict,
    View,
)
from memory.domain.sanitisation.personal import scan_personal
from memory.domain.sanitisation.pipeline import sanitise
from memory.domain.sanitisation.secrets import scan_secrets
from memory.domain.sanitisation.views import views
from memory.domain.types import Finding

__all__ = [
    "DirectiveFinding", "Finding", "Match", "Reason", "SanitiseRules", "Sanitised", "Verdict", "View",
    "sanitise", "scan_directives", "scan_personal", "scan_secrets", "views",
]  # fmt: skip

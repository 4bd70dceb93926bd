"""The audit of a foreign store: how much of it is rot, and why, row by row.

Pure: records in, a report out. No Django, no database, no network. The rules are those of the product's own
gates in `memory.domain`; what is here counts, compares and tells.
"""

from memory.audit.analysis import audit_records, audit_store
from memory.audit.model import Category, Finding, Item, Report, Tally

__all__ = ["Category", "Finding", "Item", "Report", "Tally", "audit_records", "audit_store"]

"""Reading foreign memory stores: what kind of file it is, and its rows in one shape.

Pure: files in, records out. No Django, no database, no network, no judgement about what a row says.
"""

from memory.importers.mapping import BadMapping, read_mapping
from memory.importers.reading import FORMATS, Options, Part, Reading, open_store
from memory.importers.records import ForeignRecord, Note, Unreadable, Unusable
from memory.importers.source import weight

__all__ = [
    "FORMATS", "BadMapping", "ForeignRecord", "Note", "Options", "Part", "Reading", "Unreadable", "Unusable",
    "open_store", "read_mapping", "weight",
]  # fmt: skip

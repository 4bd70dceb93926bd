"""The mount manifest `memgov.mount.yaml`: what a project's repository declares, read with its line numbers.

Reading and judging the file alone.  What the store knows of its entries is judged by `memory.services.mounts`.
"""

from memory.domain.mount.document import MountDocument, MountEntryDocument, mount_schema
from memory.domain.mount.parsing import Declared, MountFile, parse_mount
from memory.domain.mount.yaml_lines import Problem

__all__ = [
    "Declared", "MountDocument", "MountEntryDocument", "MountFile", "Problem", "mount_schema", "parse_mount",
]  # fmt: skip

"""The only code that writes the tables of memory.  Small functions; no rule is decided here.

Locks are taken in one order everywhere: memories by id, then review rows, then the audit head.
"""

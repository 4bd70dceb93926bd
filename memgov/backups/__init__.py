"""Backups of the whole product: one file, made beside a running product and restored into its place.

No Django and nothing of memories here: what only they know is handed in by the commands.
"""

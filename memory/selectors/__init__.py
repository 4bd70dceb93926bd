"""Reads.  Nothing here writes; every query names the tenant."""

"""Erasing all about a subject."""

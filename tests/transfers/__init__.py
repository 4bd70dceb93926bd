"""Imports and exports as jobs, and their pages."""

"""Previews of policies: a draft tried on what is stored, was written and was read, without writing anything."""

from __future__ import annotations

from memory.services.preview.jobs import preview_run, preview_start
from memory.services.preview.report import PreviewReport, preview_report

__all__ = ["PreviewReport", "preview_report", "preview_run", "preview_start"]

"""Texts that try to be more than text, one for each way out of a page."""

from __future__ import annotations

MARK = "pwned-by-memory"
PAYLOADS = (
    f"<script>document.title='{MARK}'</script>",
    f"<img src=x onerror=\"document.title='{MARK}'\">",
    f'"><svg onload="document.title=\'{MARK}\'">',
    f"' autofocus onfocus='document.title=\"{MARK}\"' x='",
    "{{ 7|add:7 }}{% debug %}",
    f"</textarea></title><iframe srcdoc='<script>top.document.title=\"{MARK}\"</script>'>",
    f"javascript:document.title='{MARK}'",
    "\u202egnp.exe\u202c zero\u200bwidth \U000e0041",
    f"<a href=\"javascript:document.title='{MARK}'\" hx-get='/accounts/logout/' hx-trigger='load'>x</a>",
    "<style>body{display:none}</style><link rel=stylesheet href=//evil.test>",
)
EVERYTHING = " ".join(PAYLOADS)

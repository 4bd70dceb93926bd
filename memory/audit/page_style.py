"""The style sheet of the audit's page, light and dark, for screen and print. Nothing else."""

from __future__ import annotations

from typing import Final

STYLE: Final = """
:root{--bg:#f6f7f9;--card:#fff;--ink:#1a2130;--soft:#5a6474;--line:#dfe3e9;--track:#edf0f4;--keep:#2e7d6b;
--vague:#b4552d;--transient:#c98a1b;--long:#8d6e63;--own:#6d4c8d;--exact:#3b6fb6;--near:#6f9bd8;--stale:#7b8494;
--clash:#b3261e;--secret:#8c1d40;--personal:#00838f;--order:#ad1457;--similar:#9fb3cc}
@media (prefers-color-scheme:dark){:root{--bg:#12161d;--card:#1b212b;--ink:#e8ebf0;--soft:#a3adbb;--line:#2d3643;
--track:#262e3a;--keep:#4db6a0;--vague:#e08a63;--transient:#e6b450;--long:#bcaaa4;--own:#b39ddb;--exact:#7aa7e6;
--near:#a9c6f0;--stale:#98a2b3;--clash:#ef6a63;--secret:#e57399;--personal:#4dd0e1;--order:#f06292;--similar:#5d7390}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:1040px;margin:0 auto;padding:2.5rem 1.25rem 4rem}
h1{margin:.1rem 0;font-size:1.9rem;line-height:1.2;overflow-wrap:anywhere}
h2{margin:0 0 .75rem;font-size:1.1rem}
.kind{margin:0;color:var(--soft);font-size:.85rem;letter-spacing:.06em;text-transform:uppercase}
.lead,.note,section>p{color:var(--soft)}
.note{font-size:.9rem}
section,details{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:1.25rem;margin:1rem 0}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:.75rem;list-style:none;
margin:1.5rem 0;padding:0}
.tiles li{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:1rem}
.tiles b{display:block;font-size:1.8rem;line-height:1.1;font-variant-numeric:tabular-nums}
.tiles span{display:block}.tiles small{color:var(--soft)}
figure{margin:0}figure svg{display:block;width:100%;height:auto}
.verdicts svg{height:34px}
.legend{display:flex;flex-wrap:wrap;gap:.35rem 1.25rem;list-style:none;margin:.9rem 0 0;padding:0;font-size:.95rem}
.legend span,summary span{color:var(--soft)}
i{display:inline-block;width:.75em;height:.75em;border-radius:3px;margin-right:.45em}
svg text{font:13px system-ui,sans-serif;fill:var(--ink)}svg .figure{fill:var(--soft)}
.track{fill:var(--track)}.unmeasured{fill:none;stroke:var(--line);stroke-dasharray:4 4}.months{fill:var(--exact)}
.c-keep{fill:var(--keep);background:var(--keep)}.c-own_output{fill:var(--own);background:var(--own)}
.c-too_vague{fill:var(--vague);background:var(--vague)}.c-transient{fill:var(--transient);background:var(--transient)}
.c-too_long{fill:var(--long);background:var(--long)}.c-exact_duplicate{fill:var(--exact);background:var(--exact)}
.c-near_duplicate{fill:var(--near);background:var(--near)}.c-stale{fill:var(--stale);background:var(--stale)}
.c-contradiction{fill:var(--clash);background:var(--clash)}.c-secret{fill:var(--secret);background:var(--secret)}
.c-personal{fill:var(--personal);background:var(--personal)}.c-instruction{fill:var(--order);background:var(--order)}
.c-similar{fill:var(--similar);background:var(--similar)}
summary{cursor:pointer;font-weight:600}
summary b{margin:0 .6em;font-variant-numeric:tabular-nums}summary span{font-weight:400}
table{width:100%;border-collapse:collapse;margin-top:.75rem;font-size:.92rem}
th{text-align:left;color:var(--soft);font-weight:500}
th,td{padding:.4rem .6rem .4rem 0;border-top:1px solid var(--line);vertical-align:top;overflow-wrap:anywhere}
thead th{border-top:0}
.items th:nth-child(1){width:9rem}.items th:nth-child(3){width:32%}.items th:nth-child(4){width:14rem}
code{font:.85em ui-monospace,Consolas,monospace;color:var(--soft)}
:focus-visible{outline:3px solid var(--exact);outline-offset:2px}
@media (max-width:640px){td,th{display:block;border-top:0;padding:.1rem 0}
tr{display:block;border-top:1px solid var(--line);padding:.5rem 0}thead{display:none}}
@media print{body{background:#fff}details{break-inside:avoid}}
""".strip()

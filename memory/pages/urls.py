"""Addresses of the pages.  What belongs to a tenant lies below /t/<slug>/."""

from __future__ import annotations

from django.urls import include, path

from memory.pages import front, memories, memory_acts, promotions

app_name = "pages"

_promotions = [
    path("", promotions.index, name="promotions"),
    path("<str:item>/", promotions.one, name="promotion"),
    path("<str:item>/decide/", promotions.decide, name="promotion-decide"),
]
_memories = [
    path("", memories.index, name="memories"),
    path("<str:item>/", memories.one, name="memory"),
    path("<str:item>/pin/", memory_acts.pin, name="memory-pin"),
    path("<str:item>/unpin/", memory_acts.unpin, name="memory-unpin"),
    path("<str:item>/verify/", memory_acts.verify, name="memory-verify"),
    path("<str:item>/restore/", memory_acts.restore, name="memory-restore"),
    path("<str:item>/edit/", memory_acts.edit, name="memory-edit"),
    path("<str:item>/delete/", memory_acts.delete, name="memory-delete"),
]
_tenant = [
    path("promotions/", include(_promotions)),
    path("decisions/<str:decision>/undo/", promotions.undo, name="promotion-undo"),
    path("memories/", include(_memories)),
]
urlpatterns = [
    path("", front.home, name="home"),
    path("help/", front.help_page, name="help"),
    path("tenants/", front.tenants, name="tenants"),
    path("theme/", front.theme, name="theme"),
    path("t/<slug:slug>/", include(_tenant)),
]

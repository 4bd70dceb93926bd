"""Forms of the settings page."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.conf import settings
from django.forms.utils import flatatt
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from memory.domain.policy import Policy
from memory.domain.scopes import ScopeKind
from tenants.models import User

_WIDE = (ScopeKind.PROJECT, ScopeKind.SHARED, ScopeKind.GLOBAL)


@cache
def _zones() -> tuple[tuple[str, str], ...]:
    return tuple((name, name.replace("_", " ")) for name in sorted(available_timezones()))


def zone_choices() -> list[tuple[str, str]]:
    """Every zone of the IANA database, read once for the process."""
    return list(_zones())


class LongSelect(forms.Select):
    """A select of hundreds of choices.

    Django draws a template for each option, which is four fifths of the time of a page with the zones of the world.
    """

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        """The element with the value chosen; its options were written when they were first asked for."""
        choices = tuple((str(one), str(label)) for one, label in self.choices)
        options, chosen = _options(choices), format_html('<option value="{}"', "" if value is None else value)
        drawn = SafeString(options.replace(f"{chosen}>", f"{chosen} selected>", 1))
        given = flatatt(self.build_attrs(self.attrs, attrs or {}))
        return format_html('<select name="{}"{}>{}</select>', name, given, drawn)


@lru_cache(maxsize=16)
def _options(choices: tuple[tuple[str, str], ...]) -> SafeString:
    return format_html_join("", '<option value="{}">{}</option>', choices)


class GeneralForm(forms.Form):
    """Name and zone."""

    name = forms.CharField(label=_("Name"), max_length=200)
    time_zone = forms.ChoiceField(
        label=_("Time zone"),
        choices=zone_choices,
        widget=LongSelect,
        help_text=_("Of the tenant's days, and for members who chose none of their own."),
    )


class RulesForm(forms.Form):
    """Numbers of the policy that people look for under settings."""

    restore_days = forms.IntegerField(
        label=_("Days in which a removal can be undone"), min_value=1, max_value=36_500
    )
    manifest_days = forms.IntegerField(
        label=_("Days for which a read can be looked at"), min_value=1, max_value=36_500
    )
    store_query_text = forms.BooleanField(label=_("Keep the words that agents searched for"), required=False)
    approvals_project = forms.IntegerField(
        label=_("People who must agree: project"), min_value=1, max_value=9
    )
    approvals_shared = forms.IntegerField(label=_("People who must agree: shared"), min_value=1, max_value=9)
    approvals_global = forms.IntegerField(label=_("People who must agree: global"), min_value=1, max_value=9)
    high_risk_approvals = forms.IntegerField(
        label=_("People who must agree: high risk"), min_value=1, max_value=9
    )
    reason = forms.CharField(label=_("Reason"), max_length=500)
    active = forms.IntegerField(widget=forms.HiddenInput)

    @staticmethod
    def of(policy: Policy, number: int) -> dict[str, Any]:
        """What the policy says now."""
        return {
            "restore_days": policy.retention.restore_days,
            "manifest_days": policy.retention.manifest_days,
            "store_query_text": policy.retention.store_query_text,
            **{f"approvals_{kind}": policy.promotion.approvals.get(kind, 1) for kind in _WIDE},
            "high_risk_approvals": policy.promotion.high_risk_approvals,
            "active": number,
        }

    def changed_rules(self, policy: Policy) -> dict[str, dict[str, Any]]:
        """What was asked for, as parts of the policy's document."""
        data = self.cleaned_data
        approvals = {str(kind): count for kind, count in policy.promotion.approvals.items()}
        return {
            "retention": {name: data[name] for name in ("restore_days", "manifest_days", "store_query_text")},
            "promotion": {
                "approvals": approvals | {str(kind): data[f"approvals_{kind}"] for kind in _WIDE},
                "high_risk_approvals": data["high_risk_approvals"],
            },
        }


class AccountForm(forms.Form):
    """A person's own settings."""

    name = forms.CharField(
        label=_("Name"), max_length=200, widget=forms.TextInput(attrs={"autocomplete": "name"})
    )
    time_zone = forms.ChoiceField(
        label=_("Time zone"),
        required=False,
        choices=lambda: [("", _("As this browser has it")), *zone_choices()],
        widget=LongSelect,
        help_text=_("Of the times on every page. The instant in UTC stands in each time's tooltip."),
    )
    language = forms.ChoiceField(
        label=_("Language"),
        required=False,
        choices=lambda: [("", _("As this browser asks for it")), *settings.LANGUAGES],
        help_text=_("Of every page and of mails to you. What agents get from the API stays English."),
    )
    shortcuts = forms.BooleanField(
        label=_("Single-key shortcuts on"),
        required=False,
        help_text=_("Off, a key does nothing by itself: for speech input, and for hands that slip."),
    )

    @staticmethod
    def of(user: User) -> dict[str, Any]:
        """What is saved now."""
        kept = ("name", "time_zone", "language", "shortcuts")
        return {name: getattr(user, name) for name in kept}

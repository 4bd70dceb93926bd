"""Forms of the scopes pages: who, where, and which verbs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from memory.domain.ids import parse_id, show_id
from memory.domain.scopes import GrantRule, Verb, parse_pattern, parse_scope
from memory.services.said import said
from memory.services.scope_access import Holder
from tenants.models import Agent

_VERBS = ((str(Verb.READ), _("read")), (str(Verb.WRITE), _("write")), (str(Verb.PROPOSE), _("propose")))


class AccessForm(forms.Form):
    """Can X read Y?"""

    agent = forms.ChoiceField(label=_("Agent"), choices=())
    verb = forms.ChoiceField(label=_("May it"), choices=_VERBS)
    where = forms.CharField(
        label=_("Scope or memory"),
        max_length=200,
        help_text=_("Such as project:alpha, or the id of a memory (mem_…)."),
        widget=forms.TextInput(attrs={"list": "scopes", "autocomplete": "off", "spellcheck": "false"}),
    )

    def __init__(self, data: QueryDict | None, *, agents: Sequence[tuple[str, str]]) -> None:
        super().__init__(data, auto_id="test-%s")
        field = self.fields["agent"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = agents

    def clean_where(self) -> str:
        """A scope in its one spelling, or a well-formed id."""
        text: str = self.cleaned_data["where"].strip()
        try:
            if text.startswith("mem_"):
                parse_id("mem", text)
                return text
            return str(parse_scope(text))
        except ValueError as error:
            raise forms.ValidationError(said(str(error))) from None


class GrantForm(forms.Form):
    """A grant: exactly these verbs for this holder on this pattern; none takes it away."""

    who = forms.ChoiceField(label=_("Who"), choices=())
    pattern = forms.CharField(
        label=_("Where"),
        max_length=200,
        help_text=_("A scope such as project:alpha, every scope of a kind such as user:*, or * for all."),
        widget=forms.TextInput(attrs={"list": "scopes", "autocomplete": "off", "spellcheck": "false"}),
    )
    read = forms.BooleanField(label=_("read: is given what lives there"), required=False)
    write = forms.BooleanField(label=_("write: stores there"), required=False)
    propose = forms.BooleanField(
        label=_("propose: may ask to share what lives there more widely"), required=False
    )

    def __init__(self, *args: Any, agents: Sequence[Agent], **options: Any) -> None:
        super().__init__(*args, **options)
        self._agents = {show_id("agt", agent.id): agent for agent in agents}
        field = self.fields["who"]
        assert isinstance(field, forms.ChoiceField)
        roles = sorted({agent.role for agent in agents})
        field.choices = [
            (_("Every agent of a role"), [(f"role:{role}", role) for role in roles]),
            (_("One agent"), [(who, agent.name) for who, agent in self._agents.items()]),
        ]

    def clean_who(self) -> Holder:
        """The holder that was chosen."""
        who: str = self.cleaned_data["who"]
        if who.startswith("role:"):
            return Holder(role=who.removeprefix("role:"))
        return Holder(agent=self._agents[who])

    def clean_pattern(self) -> str:
        """The pattern in its one spelling."""
        try:
            return parse_pattern(self.cleaned_data["pattern"].strip())
        except ValueError as error:
            raise forms.ValidationError(said(str(error))) from None

    def rule(self) -> GrantRule:
        """What was asked for."""
        chosen = frozenset(verb for verb in Verb if self.cleaned_data[str(verb)])
        return GrantRule(self.cleaned_data["pattern"], chosen)

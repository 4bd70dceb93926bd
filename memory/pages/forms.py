"""Forms of the admin pages: what is typed, checked and turned into what the services take."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from memory.domain.normalise import parse_ttl
from memory.domain.registry import PredicateRule
from memory.domain.scopes import GrantRule, parse_grant, parse_scope
from memory.domain.values import Normaliser
from memory.services.said import said
from tenants.models import Role
from tenants.networks import parse_networks

LIFETIMES = ((30, _("30 days")), (90, _("90 days")), (365, _("1 year")), (0, _("no end")))

# Hours for which a key goes on working beside its successor.
OVERLAPS = ((0, _("no time")), (1, _("1 hour")), (24, _("1 day")), (168, _("7 days")), (720, _("30 days")))


class AgentForm(forms.Form):
    """Register an agent."""

    name = forms.CharField(label=_("Name"), max_length=100)
    role = forms.RegexField(
        r"^[a-z0-9][a-z0-9_.-]*$",
        label=_("Agent role"),
        max_length=50,
        help_text=_("Lower-case letters, digits and _ . - such as coder, researcher, orchestrator."),
        error_messages={"invalid": _("Use lower-case letters, digits and _ . - only.")},
    )
    description = forms.CharField(label=_("What it does"), max_length=500, required=False)
    grants = forms.CharField(
        label=_("Grants beside the defaults of its role"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
        help_text=_("One a line: project:alpha=rwp gives read, write and propose."),
    )

    def clean_grants(self) -> list[GrantRule]:
        """The lines as rules; the first that cannot be read is named."""
        rules = []
        for number, line in enumerate(self.cleaned_data["grants"].splitlines(), 1):
            if not line.strip():
                continue
            try:
                rules.append(parse_grant(line.strip()))
            except ValueError as error:
                raise forms.ValidationError(
                    _("Line %(number)d: %(error)s."), params={"number": number, "error": said(str(error))}
                ) from None
        return rules


class MemoryForm(forms.Form):
    """Write a memory by hand: a text, or a subject with what is said of it."""

    content = forms.CharField(
        label=_("Text"),
        max_length=8000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 4, "dir": "auto", "class": "mem"}),
        help_text=_(
            "One fact that will still be true next week. Empty where subject, predicate and value say it."
        ),
    )
    scope = forms.CharField(
        label=_("Scope"),
        max_length=200,
        help_text=_("Who will read it: shared, project:alpha, user:42, agent:coder."),
        widget=forms.TextInput(attrs={"list": "scopes", "autocomplete": "off", "spellcheck": "false"}),
    )
    kind = forms.ChoiceField(label=_("Kind"), required=False)
    subject = forms.CharField(label=_("Subject"), max_length=500, required=False)
    predicate = forms.CharField(label=_("Predicate"), max_length=200, required=False)
    value = forms.CharField(label=_("Value"), max_length=8000, required=False)
    ttl = forms.CharField(
        label=_("Ends after"),
        max_length=20,
        required=False,
        help_text=_("Such as 2w, 14d or 12h. Empty: as the policy says."),
    )

    def __init__(self, *args: Any, kinds: list[tuple[str, str]], **options: Any) -> None:
        super().__init__(*args, **options)
        kind = self.fields["kind"]
        assert isinstance(kind, forms.ChoiceField)
        kind.choices = [("", _("As the policy says")), *kinds]

    def clean_scope(self) -> str:
        """The scope in its one spelling."""
        try:
            return str(parse_scope(self.cleaned_data["scope"].strip()))
        except ValueError as error:
            raise forms.ValidationError(said(str(error))) from None

    def clean_ttl(self) -> str | None:
        """The time to live as it was typed, or None."""
        text: str = self.cleaned_data["ttl"].strip()
        try:
            parse_ttl(text or None)
        except ValueError as error:
            raise forms.ValidationError(said(str(error))) from None
        return text or None

    def clean(self) -> dict[str, Any]:
        """There is something to remember."""
        given: dict[str, Any] = super().clean() or {}
        triple = [given.get(name, "").strip() for name in ("subject", "predicate", "value")]
        if "content" in given and not given["content"].strip() and not all(triple):
            self.add_error("content", _("Write a text, or give subject, predicate and value."))
        return given


class NetworksField(forms.CharField):
    """Addresses and networks, as a list in their one spelling."""

    def __init__(self, **options: Any) -> None:
        widget = forms.TextInput(attrs={"placeholder": "192.0.2.0/24", "spellcheck": "false"})
        super().__init__(max_length=1000, widget=widget, **options)

    def clean(self, value: Any) -> list[str]:
        """The networks; an empty text is none, hence every address."""
        try:
            return parse_networks(super().clean(value))
        except ValueError as error:
            raise forms.ValidationError(said(str(error))) from None


class NetworksForm(forms.Form):
    """From where a key may be used."""

    networks = NetworksField(
        label=_("Networks that may use it"),
        required=False,
        help_text=_("Addresses or networks (CIDR), divided by spaces. Empty: from anywhere."),
    )


class RotateForm(forms.Form):
    """How long both keys work."""

    overlap = forms.TypedChoiceField(
        label=_("The old one works for"), choices=OVERLAPS, coerce=int, initial=24
    )


class KeyForm(forms.Form):
    """Create a key."""

    name = forms.CharField(label=_("Name"), max_length=100, required=False)
    expires_in = forms.TypedChoiceField(label=_("Ends after"), choices=LIFETIMES, coerce=int, initial=90)
    trust_ceiling = forms.FloatField(
        label=_("Trust ceiling"),
        min_value=0,
        max_value=1,
        initial=1.0,
        widget=forms.NumberInput(attrs={"step": "0.05"}),
    )
    networks = NetworksField(label=_("Only from"), required=False)

    def expiry(self, now: datetime) -> datetime | None:
        """When the key ends; None for never."""
        days: int = self.cleaned_data["expires_in"]
        return now + timedelta(days=days) if days else None


def role_choices(owner: bool) -> list[tuple[str, Any]]:
    """The roles that an owner, or an admin, may give."""
    names = {
        Role.OWNER: _("Owner"),
        Role.ADMIN: _("Admin"),
        Role.REVIEWER: _("Reviewer"),
        Role.AUDITOR: _("Auditor"),
    }
    return [(role.value, name) for role, name in names.items() if owner or role != Role.OWNER]


class InviteForm(forms.Form):
    """Invite someone."""

    email = forms.EmailField(label=_("E-mail address"))
    role = forms.ChoiceField(label=_("Role"), choices=())

    def __init__(self, *args: Any, owner: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["role"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = role_choices(owner)
        field.initial = Role.REVIEWER.value


class TenantForm(forms.Form):
    """Make a tenant."""

    slug = forms.SlugField(
        label=_("In addresses"), max_length=63, help_text=_("a-z, 0-9 and hyphens; it stays for ever.")
    )
    name = forms.CharField(label=_("Name"), max_length=200)
    owner = forms.EmailField(label=_("E-mail address of its owner"))


class SignUpForm(forms.Form):
    """Make an account by invitation."""

    name = forms.CharField(
        label=_("Your name"), max_length=200, widget=forms.TextInput(attrs={"autocomplete": "name"})
    )
    password1 = forms.CharField(
        label=_("Password"),
        help_text=_("At least 10 characters."),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    password2 = forms.CharField(
        label=_("Password again"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def clean_password2(self) -> str:
        """Both times the same."""
        again: str = self.cleaned_data["password2"]
        if again != self.cleaned_data.get("password1"):
            raise forms.ValidationError(_("The two passwords differ."))
        return again


class PolicyForm(forms.Form):
    """Activate a policy that was written as text."""

    document = forms.CharField(
        label=_("Policy document"),
        required=False,
        max_length=200_000,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 18, "spellcheck": "false", "class": "policy-text"}),
        help_text=_("YAML or JSON. What is not named has the product's default."),
    )
    reason = forms.CharField(label=_("Reason"), max_length=500)


class DraftForm(forms.Form):
    """Begin a draft."""

    name = forms.CharField(label=_("Name"), max_length=100)
    begin = forms.ChoiceField(label=_("Begin with"), choices=())

    def __init__(self, *args: Any, beginnings: list[tuple[str, str]], **options: Any) -> None:
        super().__init__(*args, **options)
        field = self.fields["begin"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = beginnings


class DraftTextForm(forms.Form):
    """A draft as text."""

    document = forms.CharField(
        label=_("Policy document"),
        required=False,
        max_length=200_000,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 24, "spellcheck": "false", "class": "policy-text"}),
        help_text=_(
            "YAML or JSON. What is not named has the product's default; comments are not kept."
            " Overrides stand under scopes, by pattern."
        ),
    )


class AliasForm(forms.Form):
    """Another name of a subject."""

    alias = forms.CharField(
        label=_("Name as it is written"),
        max_length=250,
        help_text=_("Such as customer_42."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    subject = forms.CharField(
        label=_("Subject that is meant"),
        max_length=250,
        help_text=_("Such as user:42."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    reason = forms.CharField(label=_("Reason"), max_length=500, required=False)


class PredicateForm(forms.Form):
    """The tenant's own rule of a predicate."""

    name = forms.CharField(
        label=_("Predicate"),
        max_length=250,
        help_text=_("Such as plan or deploy_region."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    single_valued = forms.BooleanField(
        label=_("One value at a time: a newer one replaces it"), required=False
    )
    volatile = forms.BooleanField(label=_("Changes by itself: loses confidence with age"), required=False)
    ages = forms.BooleanField(label=_("Ages: leaves the fresh band"), required=False, initial=True)
    normaliser = forms.ChoiceField(
        label=_("Values are compared as"), choices=[(one.value, one.value) for one in Normaliser]
    )
    half_life_days = forms.FloatField(
        label=_("Half life in days"),
        required=False,
        min_value=0.01,
        max_value=36_500,
        help_text=_("Empty: as the policy says."),
    )
    aliases = forms.CharField(
        label=_("Other names"),
        required=False,
        max_length=5000,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text=_("One a line."),
    )
    reason = forms.CharField(label=_("Reason"), max_length=500, required=False)

    def rule(self) -> PredicateRule:
        """What the form says, as a rule."""
        given = self.cleaned_data
        return PredicateRule(
            given["name"],
            single_valued=given["single_valued"],
            volatile=given["volatile"],
            normaliser=Normaliser(given["normaliser"]),
            ages=given["ages"],
            half_life_days=given["half_life_days"],
            aliases=tuple(line.strip() for line in given["aliases"].splitlines() if line.strip()),
        )

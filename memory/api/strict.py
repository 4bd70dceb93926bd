"""Serializers and fields that take JSON at its word: no unknown names, no numbers in quotes, no guessed zones.

`null` is the same as not given.  Rules about what a memory may say are not here but in the domain.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar
from uuid import UUID

from django.core.validators import MaxLengthValidator, ProhibitNullCharactersValidator
from django.http import QueryDict
from django.utils.dateparse import parse_datetime
from django.utils.functional import cached_property
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.validators import ProhibitSurrogateCharactersValidator

from memory.api.problems import FieldProblem, Problem, ProblemError
from memory.domain.ids import parse_id
from memory.domain.normalise import parse_ttl
from memory.domain.scopes import parse_scope

MAX_ITEMS = 100
# What is asked of every text: plain ASCII of the right length passes all of these.
_OF_ANY_TEXT = (MaxLengthValidator, ProhibitNullCharactersValidator, ProhibitSurrogateCharactersValidator)
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


class StrictSerializer(serializers.Serializer[Any]):
    """A body.  A name that is not a field is refused, because a typing error must not look like success."""

    unknown_code = "unknown_field"
    unknown_words = "is not a field of this request"

    @classmethod
    def checked(cls, data: Any) -> dict[str, Any]:
        """The checked values of a body.  Raises a validation error that names the fields."""
        return dict(cls._shared().run_validation(data))

    @classmethod
    def _shared(cls) -> StrictSerializer:
        """One serializer for all calls: checking keeps nothing in it, and to copy its fields costs more than to check.

        Of each class its own, hence not by `lru_cache` on a method that subclasses inherit.
        """
        shared: StrictSerializer | None = cls.__dict__.get("_instance")
        if shared is None:
            shared = cls()
            cls._instance = shared
        return shared

    _instance: ClassVar[StrictSerializer | None] = None

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if isinstance(data, Mapping):
            unknown = [str(name)[:100] for name in data if name not in self.fields]
            if unknown:
                self._refuse(unknown[:20])
            return self._values_of(data)
        values: dict[str, Any] = super().to_internal_value(data)  # says what was given instead of an object
        return values

    def _values_of(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """The values of the fields that are given; of most bodies that is a few, and asking the others costs more."""
        values: dict[str, Any] = {}
        faults: dict[str, Any] = {}
        for name in (*data, *(missing for missing in self._expected if missing not in data)):
            field = self.fields[name]
            try:
                value = field.run_validation(field.get_value(data))
            except serializers.ValidationError as fault:
                faults[name] = fault.detail
            except serializers.SkipField:
                continue
            else:
                if value is not None or name in self.keeps_null:
                    values[name] = value
        if faults:
            raise serializers.ValidationError(faults)
        return values

    @cached_property
    def _expected(self) -> tuple[str, ...]:
        """Fields that say something also where they are not given: that they are missing, or a default."""
        return tuple(
            name
            for name, field in self.fields.items()
            if field.required or field.default is not serializers.empty
        )

    keeps_null: frozenset[str] = frozenset()

    def _refuse(self, unknown: list[str]) -> None:
        known = ", ".join(sorted(self.fields))
        code = self.unknown_code
        raise serializers.ValidationError(
            {
                name: serializers.ErrorDetail(f"{self.unknown_words}; there are {known}", code)
                for name in unknown
            }
        )


class ParameterSerializer(StrictSerializer):
    """The parameters of an address: `a,b` or a repeated name for a list, and once for everything else."""

    unknown_code = "unknown_parameter"
    unknown_words = "is not a parameter of this call"

    @classmethod
    def read(cls, query: QueryDict) -> dict[str, Any]:
        """The checked parameters.  Raises a 400 problem."""
        serializer = cls._shared()
        if not query and not serializer._expected:
            return {}
        given: dict[str, Any] = {}
        for name, values in query.lists():
            field = serializer.fields.get(name)
            if isinstance(field, serializers.ListField):
                given[name] = [part for value in values for part in value.split(",") if part]
            elif len(values) > 1:
                detail = "is given more than once"
                problem = FieldProblem(name[:100], "repeated_parameter", detail)
                raise ProblemError(Problem(400, "repeated_parameter", f"{name[:100]} {detail}", [problem]))
            else:
                given[name] = _typed(field, values[0])
        return cls.checked(given)


def _typed(field: serializers.Field[Any, Any, Any, Any] | None, text: str) -> Any:
    """An address has only text; numbers and booleans are read out of it before strictness applies."""
    if isinstance(field, serializers.BooleanField):
        return {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text)
    if isinstance(field, serializers.FloatField | serializers.IntegerField) and _NUMBER.fullmatch(text[:40]):
        return float(text) if "." in text else int(text)
    return text


class Text(serializers.CharField):
    """A JSON string, as it is but for NUL, which nothing can store: its white space is the service's matter.

    With ``whole`` NUL stays in too, for services that take it out and say so.
    """

    def __init__(self, *, whole: bool = False, **options: Any) -> None:
        options.setdefault("trim_whitespace", False)
        super().__init__(**options)
        self.whole = whole
        if whole:
            self.validators = [
                one for one in self.validators if not isinstance(one, ProhibitNullCharactersValidator)
            ]

    def run_validation(self, data: Any = serializers.empty) -> Any:
        """As always, but at once for what that would neither change nor refuse, which is nearly every text."""
        if type(data) is str and self._passes(data):
            return data
        return super().run_validation(data)

    def _passes(self, text: str) -> bool:
        fits = self.max_length is None or len(text) <= self.max_length
        plain = text != "" and text.isascii() and "\x00" not in text
        return fits and plain and self._asks_nothing_more

    @cached_property
    def _asks_nothing_more(self) -> bool:
        takes_all = type(self) in (Text, Value) and not self.trim_whitespace
        return takes_all and all(isinstance(one, _OF_ANY_TEXT) for one in self.validators)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        text: str = super().to_internal_value(data if self.whole else data.replace("\x00", ""))
        return text


@extend_schema_field({"type": ["string", "number", "boolean"]})
class Value(Text):
    """The value of a triple: text, or a number or truth value that becomes its text."""

    def to_internal_value(self, data: Any) -> str:
        if isinstance(data, bool):
            return "true" if data else "false"
        if isinstance(data, int | float):
            return str(data)
        return super().to_internal_value(data)


class Share(serializers.FloatField):
    """A number from 0 to 1, as a number."""

    def __init__(self, **options: Any) -> None:
        super().__init__(min_value=0, max_value=1, **options)

    def to_internal_value(self, data: Any) -> float:
        if isinstance(data, bool | str):
            self.fail("invalid")
        value: float = super().to_internal_value(data)
        return value


class Whole(serializers.IntegerField):
    """A whole number, as a number."""

    def to_internal_value(self, data: Any) -> int:
        if not isinstance(data, int) or isinstance(data, bool):
            self.fail("invalid")
        value: int = super().to_internal_value(data)
        return value


class Flag(serializers.BooleanField):
    """true or false, and nothing that resembles them."""

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=str(data)[:40])
        return data


@extend_schema_field(OpenApiTypes.DATETIME)
class Instant(serializers.Field[datetime, Any, str, Any]):
    """An ISO 8601 instant.  Its offset is required: a time without one means another moment to each reader."""

    default_error_messages = {
        "invalid": "Give an instant with its offset, as in 2026-08-13T23:30:00+08:00 or …Z.",
    }

    def to_internal_value(self, data: Any) -> datetime:
        try:
            instant = parse_datetime(data) if isinstance(data, str) and len(data) <= 40 else None
            if instant is None or instant.tzinfo is None:
                self.fail("invalid")
            return instant.astimezone(UTC)
        except (ValueError, OverflowError):
            self.fail("invalid")

    def to_representation(self, value: datetime) -> str:
        return value.isoformat()


class Identifier(serializers.Field[UUID, Any, str, Any]):
    """An id with its prefix (one of several, if so declared), such as `mem_` and 32 hexadecimal digits."""

    def __init__(self, *prefixes: str, **options: Any) -> None:
        super().__init__(**options)
        self.prefix, self.prefixes = prefixes[0], prefixes

    def to_internal_value(self, data: Any) -> UUID:
        text = data if isinstance(data, str) else ""
        named = text.partition("_")[0]
        try:
            return parse_id(named if named in self.prefixes else self.prefix, text)
        except ValueError as error:
            raise serializers.ValidationError(str(error), "invalid_id") from None

    def to_representation(self, value: UUID) -> str:
        return f"{self.prefix}_{value.hex}"


_SCOPE_PATTERN = r"^(shared|global|(session|task|agent|user|project):\S{1,128})$"


@extend_schema_field({"type": "string", "pattern": _SCOPE_PATTERN})
class ScopeText(Text):
    """`project:alpha`, `shared`, …: its kind and key are checked, and given back in one spelling."""

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        try:
            scope = str(parse_scope(text.replace("\x00", "")))
        except ValueError as error:
            raise serializers.ValidationError(str(error), "invalid_scope") from None
        return text if "\x00" in text else scope


@extend_schema_field({"type": ["integer", "string"], "pattern": r"^\d{1,9}\s*[wdhms]?$", "minimum": 1})
class TimeToLive(serializers.Field[Any, Any, Any, Any]):
    """Seconds as a number, `2w`, `14d`, `12h`, `30m`, `45s`, or null for the policy's default."""

    def to_internal_value(self, data: Any) -> Any:
        try:
            parse_ttl(data)
        except ValueError as error:
            raise serializers.ValidationError(str(error).removeprefix("ttl: "), "invalid_ttl") from None
        return data

    def to_representation(self, value: Any) -> Any:
        return value


def several(child: serializers.Field[Any, Any, Any, Any], **options: Any) -> serializers.ListField:
    """A list of at most 100 of these."""
    return serializers.ListField(child=child, max_length=MAX_ITEMS, **options)

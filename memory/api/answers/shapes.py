"""The words that answers are described with."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

Fields = serializers.Serializer[Any]


def text(**options: Any) -> serializers.CharField:
    return serializers.CharField(**options)


def maybe(**options: Any) -> serializers.CharField:
    return serializers.CharField(allow_null=True, **options)


def time() -> serializers.DateTimeField:
    return serializers.DateTimeField(allow_null=True)


def whole() -> serializers.IntegerField:
    return serializers.IntegerField()


def number() -> serializers.FloatField:
    return serializers.FloatField()


def word(words: Any, **options: Any) -> serializers.ChoiceField:
    return serializers.ChoiceField(choices=[str(word) for word in words], **options)


def texts() -> serializers.ListField:
    return serializers.ListField(child=serializers.CharField())


def page_answer(name: str, row: type[Fields], *, partial: bool = False) -> type[Fields]:
    """The answer of a list of these rows; ``partial`` where `fields` may leave members out."""
    child = row(many=True, partial=partial)
    members = {
        "results": child,
        "next": serializers.URLField(allow_null=True),
        "previous": serializers.URLField(allow_null=True),
        "__doc__": "A page. `next` and `previous` are addresses to follow, null at the ends.",
    }
    return type(f"{name}Page", (serializers.Serializer,), members)

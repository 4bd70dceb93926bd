"""`{% trans %}` of a literal, looked up once for each language.

A page holds some hundred of them, and Django looks each up anew through a lazy string: a sixth of the time that a page
takes.  Words that are given by a variable, a filter or a context go Django's way.
"""

from __future__ import annotations

from typing import cast

from django import template
from django.template.base import FilterExpression, Parser, Token
from django.template.context import Context
from django.templatetags.i18n import TranslateNode, do_translate
from django.utils.translation import get_language

register = template.Library()


class LiteralNode(template.Node):
    """A text of the template itself: the same for everyone who reads the same language."""

    child_nodelists = ()

    def __init__(self, node: TranslateNode) -> None:
        self._node = node
        self._as = node.asvar
        self._said: dict[str | None, str] = {}

    def render(self, context: Context) -> str:
        """The text in the language of the moment, or nothing where it is kept in a variable."""
        language = get_language()
        said = self._said.get(language)
        if said is None:
            said = self._said[language] = self._looked_up(context)
        if self._as:
            context[self._as] = said
            return ""
        return said

    def _looked_up(self, context: Context) -> str:
        said: str = self._node.render(context)
        return cast(str, context[self._as]) if self._as else said


@register.tag("trans")
@register.tag("translate")
def literal(parser: Parser, token: Token) -> template.Node:
    """As Django reads the tag; a plain literal is kept by language."""
    node: TranslateNode = do_translate(parser, token)
    return LiteralNode(node) if _is_plain(node, token) else node


def _is_plain(node: TranslateNode, token: Token) -> bool:
    """Django wraps a literal into a variable, so its quotes are asked of the tag."""
    expression: FilterExpression = node.filter_expression
    quoted = token.split_contents()[1][:1] in ("'", '"')
    return quoted and not expression.filters and not node.noop and node.message_context is None

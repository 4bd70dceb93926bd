"""From functions that make calls to methods that carry them out.

A function is bound once, in a class that both clients inherit. On a `Client` the method returns the answer, on an
`AsyncClient` something to await; parameters, types and documentation are the function's own.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import wraps
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload
from urllib.parse import parse_qs, urlsplit

from typing_extensions import ParamSpec, Self

from memgov_client.call import Call
from memgov_client.models import AnswerModel, Page

if TYPE_CHECKING:
    from memgov_client.carriers import AsyncCarrier, SyncCarrier

P = ParamSpec("P")
T = TypeVar("T")
M = TypeVar("M", bound=AnswerModel)


class Method(Generic[P, T]):
    """One call as a method."""

    def __init__(self, make: Callable[P, Call[T]]) -> None:
        self.make = make
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, client: None, owner: type) -> Self: ...
    @overload
    def __get__(self, client: SyncCarrier, owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: AsyncCarrier, owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, client: Any, owner: type) -> Any:
        if client is None:
            return self
        make = self.make

        @wraps(make)
        def carried_out(*args: P.args, **kwargs: P.kwargs) -> Any:
            return client.run(make(*args, **kwargs))

        _describe(carried_out, make)
        return carried_out


class Listed(Generic[P, M]):
    """A list as a method that walks all its pages; each is asked for when the walk comes to it."""

    def __init__(self, make: Callable[P, Call[Page[M]]]) -> None:
        self.make = make
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, client: None, owner: type) -> Self: ...
    @overload
    def __get__(self, client: SyncCarrier, owner: type) -> Callable[P, Iterator[M]]: ...
    @overload
    def __get__(self, client: AsyncCarrier, owner: type) -> Callable[P, AsyncIterator[M]]: ...
    def __get__(self, client: Any, owner: type) -> Any:
        if client is None:
            return self
        make = self.make

        @wraps(make)
        def walked(*args: P.args, **kwargs: P.kwargs) -> Any:
            return client.walk(lambda cursor: make(*args, **_from(kwargs, cursor)))

        return walked


def _from(kwargs: dict[str, Any], cursor: str | None) -> dict[str, Any]:
    return kwargs if cursor is None else {**kwargs, "cursor": cursor}


def cursor_of(address: str | None) -> str | None:
    """The cursor in the address of a next page.

    Only the cursor is taken, never the address: a server behind a proxy may call itself something else, and the key
    must not be sent wherever an answer points.
    """
    found = parse_qs(urlsplit(address or "").query).get("cursor")
    return found[0] if found else None


def _describe(method: Callable[..., Any], make: Callable[..., Any]) -> None:
    """Let `inspect.signature` show what the method takes; what it returns depends on the client."""
    signature = inspect.signature(make)
    method.__signature__ = signature.replace(return_annotation=inspect.Signature.empty)  # type: ignore[attr-defined]

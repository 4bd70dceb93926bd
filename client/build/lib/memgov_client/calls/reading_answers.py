"""From an answer to a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from memgov_client.call import Answer
from memgov_client.errors import UnexpectedAnswerError, problem
from memgov_client.models import AnswerModel, Digest, Item, Outcome, Page

M = TypeVar("M", bound=AnswerModel)


def one(model: type[M]) -> Callable[[Answer], M]:
    """A reader of one such model."""

    def read(answer: Answer) -> M:
        return _checked(model, answer.data)

    return read


def page(model: type[M]) -> Callable[[Answer], Page[M]]:
    """A reader of a page of these."""

    def read(answer: Answer) -> Page[M]:
        return _checked(Page[model], answer.data)  # type: ignore[valid-type]

    return read


def raw(answer: Answer) -> dict[str, Any]:
    """The JSON object as it came."""
    return dict(_object(answer.data))


def outcome(answer: Answer) -> Outcome:
    """The outcome of a write.  A refusal is one; a 422 that is none (`idempotency_mismatch`) is raised."""
    if answer.status >= 400 and "outcome" not in _object(answer.data):
        raise problem(answer.status, answer.data)
    return outcome_in(_object(answer.data), answer.status)


def outcome_in(data: Mapping[str, Any], status: int) -> Outcome:
    """An outcome among the members of an answer, with the status of the write."""
    return _checked(Outcome, {**data, "http_status": status})


def checked(answer: Answer) -> Outcome:
    """What would become of a candidate: ``http_status`` is what the write would answer."""
    data = _object(answer.data)
    return outcome_in(data, int(data.get("status", answer.status)))


def items(answer: Answer) -> list[Item]:
    """The results of a batch, in the order of its items."""
    return [_item(result) for result in _object(answer.data).get("results", [])]


def _item(result: Any) -> Item:
    found = _object(result)
    index, status = int(found.get("index", -1)), int(found.get("status", 0))
    members = {name: value for name, value in found.items() if name not in ("index", "status")}
    if "outcome" in members:
        return Item(index=index, status=status, outcome=outcome_in(members, status))
    return Item(index=index, status=status, problem=members)


def digest(answer: Answer) -> Digest | None:
    """The digest with its tag; None when it is what the caller has already (304)."""
    if answer.status == 304:
        return None
    return _checked(Digest, {**_object(answer.data), "etag": answer.headers.get("etag", "")})


def deleted(answer: Answer) -> list[str]:
    """The ids that were deleted."""
    return [str(one) for one in _object(answer.data).get("deleted", [])]


def nothing(answer: Answer) -> None:
    """For calls whose answer says nothing new."""


def _object(data: Any) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise UnexpectedAnswerError("the answer is not a JSON object, so it is not memgov's")
    return data


def _checked(model: type[M], data: Any) -> M:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UnexpectedAnswerError(
            f"the answer does not fit {model.__name__}: {where}: {first['msg']}"
        ) from None

"""Faults of successes that only one operation or one kind of request shows."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.reference.clock import timestamp
from conformance.reference.faults.making import made, replied
from conformance.reference.refusal import Refusal
from conformance.reference.request_context import Reply
from conformance.reference.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.faults import Fault
    from conformance.reference.request_context import RequestContext

    Kind = Callable[[RequestContext, Reply], bool]


# Successes


def _no_data(operation: str) -> Fault:
    """An operation that answers 2xx with the body of an error."""

    def change(_: RequestContext, reply: Reply) -> Reply:
        return Reply(reply.status, {"error": {"code": "OK", "message": "done", "statusCode": reply.status}})

    return replied(f"success-as-error-{operation}".lower(), f"A success of {operation} has the body of an error.",
                   operation, change, "success-data-object")  # fmt: skip


SUCCESSES = (
    _no_data("updateEngagement"),
    _no_data("archiveEngagement"),
    replied("list-data-null-when-empty", "An empty list of engagements is null.", "listEngagements",
            lambda _, reply: replace(reply, content={**reply.content, "data": reply.content.get("data") or None}),
            "list-data-array"),
    replied("list-meta-lost-when-empty", "An empty list of engagements has no meta.", "listEngagements",
            lambda _, reply: reply if reply.content["data"] else replace(reply, content={"data": []}),
            "list-meta-object"),
    replied("members-data-null-when-empty", "An empty list of members is null.", "listMembers",
            lambda _, reply: replace(reply, content={**reply.content, "data": reply.content.get("data") or None}),
            "list-data-array"),
    replied("list-total-zero-when-empty", "A page past the end says that there is nothing in total.", "listEngagements",
            lambda _, reply: reply if reply.content["data"] else replace(
                reply, content={"data": [], "meta": {**reply.content["meta"], "total": 0, "totalPages": 0}}),
            "list-engagements-total", "list-past-the-end"),
    replied("list-page-of-strings", "The data of a list with one item is that item.", "listEngagements",
            lambda _, reply: replace(reply, content={**reply.content, "data": reply.content["data"][0]})
            if len(reply.content["data"]) == 1 else reply, "list-data-array"),
)  # fmt: skip


def _past_end(status: int) -> Fault:
    """A page past the end that is refused as it must not be."""

    def check_page_exists(_: Service, meta: dict[str, Any]) -> None:
        if meta["page"] > max(meta["totalPages"], 1):
            raise Refusal(status, "There is no such page.")

    return made(f"past-end-{status}", f"A page past the end is refused with {status}.", "list-past-the-end",
                check_page_exists=check_page_exists)  # fmt: skip


PAST_END = (_past_end(403), _past_end(401))


def _empty_refused(self: Service, context: RequestContext) -> Reply:
    """Refuse where nothing matches."""
    reply = Service.act(self, context)
    if context.operation.id == "listEngagements" and reply.content["meta"]["total"] == 0:
        raise Refusal(404, "Nothing matches.")
    return reply


EMPTY = (
    made(
        "empty-engagements-404",
        "A list of engagements that nothing matches is refused with 404.",
        "list-engagements-succeeds",
        act=_empty_refused,
    ),
)


# Times


def _written(identifier: str, title: str, write: Callable[[int], str], *breaks: str) -> Fault:
    return made(identifier, title, *breaks, timestamp=lambda _, milliseconds: write(milliseconds))


TIMES = (
    _written("time-trailing-zeros-lost", "A moment is written without zeros at its end.",
             lambda at: f"{timestamp(at)[:-1].rstrip('0').rstrip('.')}Z", "timestamp-format"),
    _written("time-zone-name", "A moment ends with UTC instead of Z.", lambda at: f"{timestamp(at)[:-1]}UTC",
             "timestamp-format"),
    _written("time-without-zeros", "A moment is written without the zeros that its parts begin with.",
             lambda at: re.sub("([-T:.])0", r"\1", timestamp(at)), "timestamp-format"),
    _written("time-four-decimals", "A moment is written with four decimals.", lambda at: f"{timestamp(at)[:-1]}0Z",
             "timestamp-format"),
    _written("time-week", "A moment is written as a day of a week of the year.",
             lambda at: f"{timestamp(at)[:4]}-W12-3{timestamp(at)[10:]}", "timestamp-format"),
)  # fmt: skip


# Statuses


def _status(identifier: str, words: str, operation: str, kind: Kind, status: int, *breaks: str) -> Fault:
    return replied(
        identifier,
        f"{words} gives {status} instead of 200.",
        operation,
        lambda context, reply: replace(reply, status=status) if kind(context, reply) else reply,
        *breaks,
    )


def _is_later_page(context: RequestContext, _: Reply) -> bool:
    return bool(context.values["page"] > 1)


def _is_archived(_: RequestContext, reply: Reply) -> bool:
    return bool(reply.content["data"].get("status") == "archived")


STATUSES = (
    _status("engagements-second-page-206", "A later page of engagements", "listEngagements", _is_later_page, 206,
            "list-engagements-succeeds"),
    _status("members-second-page-206", "A later page of members", "listMembers", _is_later_page, 206,
            "list-members-succeeds"),
    _status("filtered-engagements-203", "A list of archived engagements", "listEngagements",
            lambda context, _: context.values["status"] == "archived", 203, "list-engagements-succeeds"),
    _status("read-archived-203", "Reading an archived engagement", "getEngagement", _is_archived, 203,
            "get-engagement-succeeds"),
    _status("delete-archived-202", "Deleting an archived engagement", "deleteEngagement",
            lambda context, _: context.engagement.status == "archived", 202, "delete-engagement-succeeds"),
)  # fmt: skip

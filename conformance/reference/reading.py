"""What a request says, once it is found valid: its body and its parameters."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from starlette.requests import ClientDisconnect

from conformance.reference.access import Access
from conformance.reference.json_body import Json, RepeatedMemberError, read_json
from conformance.reference.refusal import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.reference.request_context import RequestContext

_BODY_LIMITS = {"64KiB": 65_536, "1MiB": 1_048_576, "8MiB": 8_388_608}
_INTEGERS = {
    "none": re.compile(r"0|-?[1-9][0-9]*"),
    "leading-zeros": re.compile(r"-?[0-9]+"),
    "most": re.compile(r" *[+-]?[0-9]+(\.[0-9]*)? *"),
}
_FIRST_PAGE = 1
_PER_PAGE = 20
_MOST_PER_PAGE = 100
_LONGEST_NUMBER = 4000
"""Digits of a number that are still read."""


class Reading(Access):
    """Bodies and parameters."""

    # Bodies

    async def receive(self, context: RequestContext) -> bytes:
        """Take in the body of a request.

        Raises:
            Refusal: 413 where it is too long.
        """
        limit = _BODY_LIMITS[self.latitude["body_limit"]]
        content, length = bytearray(), 0
        try:
            async for part in context.request.stream():
                length += len(part)
                if length <= limit:
                    content += part
        except ClientDisconnect as problem:
            raise Refusal(400, "The body ended too soon.") from problem
        if length > limit:  # known earlier, but a client that is still sending would miss the answer
            raise Refusal(413, f"A body has at most {limit} bytes.")
        return bytes(content)

    def read_body(self, context: RequestContext, *, fields: Iterable[str], read_only: Iterable[str]) -> dict[str, Any]:
        """Read the JSON object of a request.

        Args:
            context: The request.
            fields: What the operation takes.
            read_only: Fields of the resource that clients cannot set.

        Returns:
            Those of ``fields`` that were sent.

        Raises:
            Refusal: It is no JSON object, or has fields that this service objects to.
        """
        self.check_content_type(context)
        body = self.parse(context.content)
        if not isinstance(body, dict):
            self.refuse("body_not_object", "The body has to be a JSON object.")
        self.check_field_names(set(body), set(fields), set(read_only))
        return {name: body[name] for name in fields if name in body}

    def check_content_type(self, context: RequestContext) -> None:
        """Refuse a body that is not declared as JSON."""
        declared = context.request.headers.get("content-type", "")
        if not declared:
            self.rule("missing_content_type", "The header Content-Type is missing; send application/json.")
        elif declared.partition(";")[0].strip().lower() != "application/json":
            self.rule("wrong_content_type", "The Content-Type of a body has to be application/json.")

    def parse(self, content: bytes) -> Json:
        """Read JSON."""
        choice = self.latitude["repeated_field"]
        try:
            return read_json(content, "refused" if choice.isdigit() else choice)
        except RepeatedMemberError:
            raise Refusal(int(choice), "A member of the body stands twice.") from None
        except ValueError as problem:
            self.refuse("malformed_body", f"The body is no valid JSON: {problem}.")

    def check_field_names(self, sent: set[str], known: set[str], read_only: set[str]) -> None:
        """Object to fields that the operation does not take, where this service does."""
        if sent & read_only:
            self.rule("read_only_field", f"Clients cannot set {', '.join(sorted(sent & read_only))}.")
        if sent - known - read_only:
            self.rule("unknown_field", "The body has fields that this operation does not know.")

    def require(self, body: dict[str, Any], field: str) -> Json:
        """Give a field that has to be there."""
        if body.get(field) is None:
            self.refuse("missing_field", f"The field {field} is required.")
        value: Json = body[field]
        return value

    # Parameters

    def read_parameters(self, context: RequestContext) -> dict[str, str]:
        """Read the query of a request, each parameter once."""
        given: dict[str, str] = {}
        for name, value in context.request.query_params.multi_items():
            if name not in context.operation.parameters:
                self.rule("unknown_parameter", "The query has parameters that this operation does not know.")
            elif not value:
                self.rule("empty_parameter", f"The parameter {name} is empty.")
            elif name not in given or self.rule("repeated_parameter", f"The parameter {name} stands twice.") == "last":
                given[name] = value
        return given

    def read_page(self, parameters: dict[str, str]) -> dict[str, int]:
        """Read ``page`` and ``perPage``, within the bounds that this service keeps."""
        page = self.integer(parameters, "page", _FIRST_PAGE)
        per_page = self.integer(parameters, "perPage", _PER_PAGE)
        if page < 1:
            page = self.page_below_one()
        if per_page < 1:
            per_page = self.per_page_below_one()
        if per_page > _MOST_PER_PAGE:
            per_page = self.per_page_above_maximum()
        return {"page": page, "perPage": per_page}

    def page_below_one(self) -> int:
        """Give the page that is shown for one below 1."""
        self.rule("page_below_one", "Pages are counted from 1.")
        return _FIRST_PAGE

    def per_page_below_one(self) -> int:
        """Give the size of a page for one below 1."""
        choice = self.rule("per_page_below_one", "A page has at least 1 item.")
        return 1 if choice == "clamped" else _PER_PAGE

    def per_page_above_maximum(self) -> int:
        """Give the size of a page for one above the maximum."""
        choice = self.rule("per_page_above_maximum", f"A page has at most {_MOST_PER_PAGE} items.")
        return _MOST_PER_PAGE if choice == "clamped" else _PER_PAGE

    def integer(self, parameters: dict[str, str], name: str, default: int) -> int:
        """Read an integer parameter."""
        text = parameters.get(name)
        if text is None:
            return default
        pattern = _INTEGERS[self.latitude["odd_integer"]]
        if len(text) > _LONGEST_NUMBER or not pattern.fullmatch(text):
            self.refuse("bad_integer", f"The parameter {name} has to be an integer.")
        return int(text.partition(".")[0])

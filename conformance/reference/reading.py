"""Parser and validation of request bodies and query parameters."""

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
"""Most digits of a number."""


class Reading(Access):
    """Request bodies and query parameters."""

    # Bodies

    async def receive(self, context: RequestContext) -> bytes:
        """Receive the body of a request.

        Raises:
            Refusal: 413 if it is too long.
        """
        limit = _BODY_LIMITS[self.latitude["body_limit"]]
        content, length = bytearray(), 0
        try:
            async for part in context.request.stream():
                length += len(part)
                if length <= limit:
                    content += part
        except ClientDisconnect as problem:
            raise Refusal(400, "The connection closed before the end of the body.") from problem
        if length > limit:  # only now, since a client that is still sending would miss the response
            raise Refusal(413, f"A body has at most {limit} bytes.")
        return bytes(content)

    def read_body(self, context: RequestContext, *, fields: Iterable[str], read_only: Iterable[str]) -> dict[str, Any]:
        """Parse the JSON object of a request.

        Args:
            context: The request.
            fields: The fields of the operation.
            read_only: Fields of the resource that clients cannot set.

        Returns:
            The fields of ``fields`` that were sent.

        Raises:
            Refusal: The body is not a JSON object, or has fields that this service refuses.
        """
        self.check_content_type(context)
        body = self.parse(context.content)
        if not isinstance(body, dict):
            self.refuse("body_not_object", "The body must be a JSON object.")
        self.check_field_names(set(body), set(fields), set(read_only))
        return {name: body[name] for name in fields if name in body}

    def check_content_type(self, context: RequestContext) -> None:
        """Refuse a body that is not declared as JSON."""
        declared = context.request.headers.get("content-type", "")
        if not declared:
            self.rule("missing_content_type", "The header Content-Type is missing. Send application/json.")
        elif declared.partition(";")[0].strip().lower() != "application/json":
            self.rule("wrong_content_type", "The Content-Type of a body must be application/json.")

    def parse(self, content: bytes) -> Json:
        """Parse JSON."""
        choice = self.latitude["repeated_field"]
        try:
            return read_json(content, "refused" if choice.isdigit() else choice)
        except RepeatedMemberError:
            raise Refusal(int(choice), "The body has a repeated member.") from None
        except ValueError as problem:
            self.refuse("malformed_body", f"The body is not valid JSON: {problem}.")

    def check_field_names(self, sent: set[str], known: set[str], read_only: set[str]) -> None:
        """Refuse read-only and unknown fields, depending on the latitude."""
        if sent & read_only:
            self.rule("read_only_field", f"Clients cannot set {', '.join(sorted(sent & read_only))}.")
        if sent - known - read_only:
            self.rule("unknown_field", "The body has fields that this operation does not know.")

    def require(self, body: dict[str, Any], field: str) -> Json:
        """Return the value of a required field."""
        if body.get(field) is None:
            self.refuse("missing_field", f"The field {field} is required.")
        value: Json = body[field]
        return value

    # Parameters

    def read_parameters(self, context: RequestContext) -> dict[str, str]:
        """Return the query parameters, each once."""
        given: dict[str, str] = {}
        for name, value in context.request.query_params.multi_items():
            if name not in context.operation.parameters:
                self.rule("unknown_parameter", "The query has parameters that this operation does not know.")
            elif not value:
                self.rule("empty_parameter", f"The parameter {name} is empty.")
            elif name not in given or self.rule("repeated_parameter", f"The parameter {name} is repeated.") == "last":
                given[name] = value
        return given

    def read_page(self, parameters: dict[str, str]) -> dict[str, int]:
        """Return ``page`` and ``perPage`` within their bounds."""
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
        """Return the page for a page number below 1."""
        self.rule("page_below_one", "The first page is 1.")
        return _FIRST_PAGE

    def per_page_below_one(self) -> int:
        """Return the page size for a ``perPage`` below 1."""
        choice = self.rule("per_page_below_one", "A page has at least 1 item.")
        return 1 if choice == "clamped" else _PER_PAGE

    def per_page_above_maximum(self) -> int:
        """Return the page size for a ``perPage`` above the maximum."""
        choice = self.rule("per_page_above_maximum", f"A page has at most {_MOST_PER_PAGE} items.")
        return _MOST_PER_PAGE if choice == "clamped" else _PER_PAGE

    def integer(self, parameters: dict[str, str], name: str, default: int) -> int:
        """Parse an integer parameter."""
        text = parameters.get(name)
        if text is None:
            return default
        pattern = _INTEGERS[self.latitude["odd_integer"]]
        if len(text) > _LONGEST_NUMBER or not pattern.fullmatch(text):
            self.refuse("bad_integer", f"The parameter {name} must be an integer.")
        return int(text.partition(".")[0])

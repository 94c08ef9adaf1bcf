"""Faults of errors: their codes, fields and bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .changes import drop, edit, inside, put, rename
from .conditions import always, has_status, is_error, responds
from .mutations import Mutation, fault
from .replies import error, send

if TYPE_CHECKING:
    from .situations import Situation

_ENVELOPE, _AGREES = "error-envelope", "error-status-code-agrees"
_JSON, _TYPE = "json-well-formed", "json-media-type"


def _unclosed(at: Situation) -> bool:
    """The request has a body that does not end as an object or a list does."""
    return bool(at.context.content) and not at.context.content.rstrip().endswith((b"}", b"]"))


def _accepts_html(at: Situation) -> bool:
    return is_error(at) and "html" in at.context.request.headers.get("accept", "")


def _sent(text: bytes, status: int, media_type: str) -> Mutation:
    return send(lambda _: text, has_status(status), media_type=media_type)


CODES = (
    *(fault(f"code-{status}", f"A {status} has the code {code}.",
            error(inside("error", put(code=code)), has_status(status)), f"error-code-{status}") for status, code in (
        (400, "INVALID_REQUEST"),
        (401, "INVALID_API_KEY"),
        (403, "ACCESS_DENIED"),
        (404, "ENGAGEMENT_NOT_FOUND"),
        (409, "ALREADY_ARCHIVED"),
        (422, "UNPROCESSABLE_ENTITY"),
        (429, "TOO_MANY_REQUESTS"))),
    *(fault(f"code-{status}-in-small-letters", f"A {status} has its code in lower case.",
            error(inside("error", edit(code=str.lower)), has_status(status)), f"error-code-{status}")
      for status in (400, 404, 422)),
    *(fault(f"code-{status}-of-{words}", f"A {status} of {operation} has the code {code}.",
            error(inside("error", put(code=code)), responds(operation, status)), f"error-code-{status}")
      for operation, words, status, code in (
        ("updateMemberRole", "role-change", 404, "USER_NOT_FOUND"),
        ("removeMember", "removal", 404, "MEMBER_NOT_FOUND"),
        ("deleteEngagement", "deletion", 404, "ENGAGEMENT_NOT_FOUND"),
        ("archiveEngagement", "archive", 404, "ENGAGEMENT_NOT_FOUND"),
        ("updateEngagement", "edit", 404, "RESOURCE_NOT_FOUND"),
        ("unarchiveEngagement", "unarchiving", 404, "ENGAGEMENT_NOT_FOUND"),
        ("updateEngagement", "edit", 409, "ENGAGEMENT_ARCHIVED"),
        ("inviteMember", "invitation", 422, "INVALID_EMAIL"),
        ("inviteMember", "invitation", 400, "INVALID_EMAIL"),
        ("listEngagements", "list", 422, "INVALID_QUERY"),
        ("listMembers", "member-list", 422, "INVALID_QUERY"),
        ("updateCurrentOrganization", "renaming", 422, "INVALID_NAME"),
        ("getCurrentOrganization", "organization", 403, "INSUFFICIENT_SCOPE"),
        ("deleteEngagement", "refused-deletion", 403, "INSUFFICIENT_SCOPE"))),
)  # fmt: skip

FIELDS = tuple(
    fault(identifier, title, error(inside("error", change), when), _ENVELOPE) for identifier, title, when, change in (
        ("401-without-message", "A 401 lacks error.message.", has_status(401), drop("message")),
        ("404-without-code", "A 404 lacks error.code.", has_status(404), drop("code")),
        ("role-404-without-code", "The 404 for an unknown user lacks error.code.",
         responds("updateMemberRole", 404), drop("code")),
        ("422-without-status-code", "A 422 lacks error.statusCode.", has_status(422), drop("statusCode")),
        ("404-snake-case", "A 404 has status_code instead of statusCode.",
         has_status(404), rename("statusCode", "status_code")),
        ("403-null-message", "The message of a 403 is null.", has_status(403), put(message=None)),
        ("message-number-on-404", "The message of a 404 is a number.", has_status(404), put(message=404)),
        ("400-message-list", "The message of a 400 is a list.", has_status(400), edit(message=lambda text: [text])),
        ("invalid-messages-list", "The message of a refused creation is a list.",
         responds("createEngagement", 400, 422), put(message=["name is invalid"])),
        ("archived-edit-message-object", "The message of the refusal to edit an archived engagement is an object.",
         responds("updateEngagement", 403, 409, 423), put(message={"text": "archived"})),
        ("409-code-number", "The code of a 409 is a number.", has_status(409), put(code=4091)),
        ("status-code-string", "The statusCode of an error is a string.", always, edit(statusCode=str)),
        ("429-status-code-text", "The statusCode of a 429 is a string.", has_status(429), edit(statusCode=str)),
        ("401-status-code-text", "The statusCode of a 401 is a string.", has_status(401), edit(statusCode=str)))
)  # fmt: skip

STATUS_CODES = (
    fault("status-code-200", "The statusCode of every error is 200.",
          error(inside("error", put(statusCode=200))), _AGREES),
    fault("status-code-float", "The statusCode of an error is a number with a fraction.",
          error(inside("error", edit(statusCode=lambda code: code + 0.5))), _ENVELOPE, _AGREES),
    fault("removal-404-says-400", "The statusCode of the 404 for an unknown user is 400.",
          error(inside("error", put(statusCode=400)), responds("removeMember", 404)), _AGREES),
    fault("malformed-says-500", "The statusCode of the error for malformed JSON is 500.",
          error(inside("error", put(statusCode=500)), _unclosed), _AGREES),
    *(fault(f"{status}-says-{code}", f"The statusCode of a {status} is {code}.",
            error(inside("error", put(statusCode=code)), has_status(status)), _AGREES)
      for status, code in ((401, 403), (404, 40401), (422, 400), (429, 0))),
)  # fmt: skip

ENVELOPES = tuple(
    fault(identifier, title, error(change, when), _ENVELOPE) for identifier, title, when, change in (
        ("422-bare", "A 422 has code, message and statusCode at the top level, without error around them.",
         has_status(422), lambda body: body["error"]),
        ("query-errors-bare",
         "The error for an invalid parameter has its code at the top level, without error around it.",
         responds("listEngagements", 400, 422), lambda body: body["error"]),
        ("400-text-as-error", "The error member of a 400 is a string.",
         has_status(400), edit(error=lambda inner: inner["message"])),
        ("403-array", "The body of a 403 is an array.", has_status(403), lambda body: [body["error"]]),
        ("409-errors", "A 409 has the member errors instead of error.", has_status(409),
         lambda body: {"errors": [body["error"]]}),
        ("invitation-errors-listed", "The refusal of an invitation has the member errors instead of error.",
         responds("inviteMember", 400, 422), lambda body: {"errors": [body["error"]]}),
        ("404-detail", "A 404 has the member detail instead of error.",
         has_status(404), lambda body: {"detail": body["error"]["message"]}),
        ("malformed-detail", "The error for malformed JSON has the member detail instead of error.",
         _unclosed, lambda _: {"detail": "There was an error parsing the body"}),
        ("malformed-message", "The error for malformed JSON has the member message instead of error.",
         _unclosed, lambda _: {"message": "Unexpected token", "status": 400}),
        ("429-null", "The error member of a 429 is null.", has_status(429), put(error=None)),
        ("deletion-404-null", "The error member of a 404 for a deletion is null.",
         responds("deleteEngagement", 404), put(error=None)))
)  # fmt: skip

BODIES = tuple(
    fault(identifier, title, _sent(text, status, media_type), *breaks)
    for identifier, title, status, text, media_type, *breaks in (
        ("404-page", "A 404 is an HTML page.",
         404, b"<!DOCTYPE html><title>Not found</title><h1>Not found</h1>", "text/html; charset=utf-8", _TYPE, _JSON),
        ("401-plain-text", "A 401 is plain text.", 401, b"Unauthorized", "text/plain; charset=utf-8", _TYPE, _JSON),
        ("422-text-as-json", "A 422 is plain text with the media type application/json.",
         422, b"Unprocessable Entity", "application/json", _JSON),
        ("403-empty", "A 403 has no body.", 403, b"", "", _ENVELOPE),
        ("404-empty", "A 404 has no body.", 404, b"", "application/json", _ENVELOPE),
        ("429-plain-text", "A 429 is plain text.", 429, b"Too Many Requests", "text/plain", _TYPE, _JSON),
        ("409-empty-object", "The body of a 409 is an empty object.", 409, b"{}", "application/json", _ENVELOPE),
        ("400-null", "The body of a 400 is null.", 400, b"null", "application/json", _ENVELOPE))
)  # fmt: skip

PAGES = (
    fault("errors-html-if-accepted", "Errors are HTML pages for a request that accepts HTML.",
          send(lambda _: b"<!DOCTYPE html><title>Error</title>", _accepts_html, media_type="text/html"), _TYPE, _JSON),
)  # fmt: skip

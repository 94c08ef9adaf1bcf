"""Operator's interface of the sandbox: JSON-RPC 2.0 over HTTP with a token, and the page that accepts invitations."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from conformance.interface.operations import KINDS, SCOPES
from conformance.reference.json_body import read_json
from conformance.reference.provisioning import THROTTLED_LIMIT, THROTTLED_WINDOW, Provisioning
from conformance.reference.records import Subordinate

if TYPE_CHECKING:
    from starlette.requests import Request

_PARSE_ERROR, _INVALID_REQUEST, _METHOD_NOT_FOUND, _INVALID_PARAMS = -32700, -32600, -32601, -32602

Method = Callable[[dict[str, Any]], dict[str, Any]]


class _RpcError(Exception):
    """A call that fails."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def _text(params: dict[str, Any], name: str) -> str:
    """Return a parameter that must be a string."""
    value = params.get(name)
    if not isinstance(value, str):
        raise _RpcError(_INVALID_PARAMS, f"{name} must be a string")
    return value


def _one_of(params: dict[str, Any], name: str, permitted: tuple[str, ...]) -> str:
    """Return a parameter that must be one of a list."""
    value = _text(params, name)
    if value not in permitted:
        raise _RpcError(_INVALID_PARAMS, f"{name} must be one of: {', '.join(permitted)}")
    return value


class Sandbox:
    """An operator's methods for an organization of a service.

    Args:
        service: The service.
        organization_id: The organization.
        token: The operator's bearer token.
    """

    def __init__(self, service: Provisioning, organization_id: str, token: str) -> None:
        self._service = service
        self._organization_id = organization_id
        self._token = token
        self._methods: dict[str, Method] = {
            "create_key": self.create_key,
            "create_throttled_key": self.create_throttled_key,
            "create_member": self.create_member,
            "create_organization": self.create_organization,
            "create_subordinate": self.create_subordinate,
            "subordinate_exists": self.subordinate_exists,
            "read_mail": self.read_mail,
        }

    # HTTP

    async def rpc(self, request: Request) -> Response:
        """Respond to a JSON-RPC message."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(token.encode(), self._token.encode()):
            return Response(status_code=401)
        response = self.respond(await request.body())
        return Response(status_code=204) if response is None else JSONResponse(response)

    async def accept(self, request: Request) -> Response:
        """Accept the invitation of a link."""
        if self._service.accept_invitation(request.path_params["token"]) is None:
            return Response("This invitation is not valid. Ask for a new one.\n", 404, media_type="text/plain")
        return Response("Welcome. You are a member now.\n", media_type="text/plain")

    # JSON-RPC

    def respond(self, message: bytes) -> dict[str, Any] | None:
        """Call the method of a message; a notification has no response."""
        identifier = None
        try:
            call = self._read(message)
            identifier = call.get("id")
            outcome: dict[str, Any] = {"result": self._carry_out(call)}
        except _RpcError as problem:
            outcome = {"error": {"code": problem.code, "message": problem.message}}
        else:
            if "id" not in call:
                return None
        return {"jsonrpc": "2.0", "id": identifier, **outcome}

    def _read(self, message: bytes) -> dict[str, Any]:
        try:
            call = read_json(message)
        except ValueError as problem:
            raise _RpcError(_PARSE_ERROR, f"the message is not JSON: {problem}") from problem
        if not isinstance(call, dict) or call.get("jsonrpc") != "2.0" or not isinstance(call.get("method"), str):
            raise _RpcError(_INVALID_REQUEST, "the message is not a JSON-RPC 2.0 request")
        return call

    def _carry_out(self, call: dict[str, Any]) -> dict[str, Any]:
        params = call.get("params", {})
        if call["method"] not in self._methods:
            raise _RpcError(_METHOD_NOT_FOUND, f"there is no method {call['method']!r}")
        if not isinstance(params, dict):
            raise _RpcError(_INVALID_PARAMS, "params must be an object")
        with self._service.store.transaction():
            return self._methods[call["method"]](params)

    # Methods

    def create_key(self, params: dict[str, Any]) -> dict[str, Any]:
        """Create a key with some permissions."""
        scopes = params.get("scopes")
        if not isinstance(scopes, list) or not all(scope in SCOPES for scope in scopes):
            raise _RpcError(_INVALID_PARAMS, f"scopes must be a list of: {', '.join(SCOPES)}")
        return {"key": self._service.add_key(self._organization_id, scopes)}

    def create_throttled_key(self, _: dict[str, Any]) -> dict[str, Any]:
        """Create a full key with a low rate limit."""
        key = self._service.add_key(self._organization_id, limit=THROTTLED_LIMIT, window=THROTTLED_WINDOW)
        return {"key": key}

    def create_member(self, params: dict[str, Any]) -> dict[str, Any]:
        """Create a member with its own full key."""
        role = _one_of(params, "role", ("admin", "member"))
        email = f"member-{secrets.token_hex(6)}@reference.example"
        user_id = self._service.add_member(self._organization_id, f"Provisioned {role}", email, role)
        key = self._service.add_key(self._organization_id, user_id=user_id)
        return {"userId": user_id, "email": email, "key": key}

    def create_organization(self, _: dict[str, Any]) -> dict[str, Any]:
        """Create another organization with a full key."""
        slug = f"provisioned-{secrets.token_hex(6)}"
        organization_id = self._service.add_organization(f"Provisioned {slug[-6:]}", slug)
        return {"key": self._service.add_key(organization_id)}

    def read_mail(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return the mail sent to an address."""
        mails = self._service.store.mails(_text(params, "to"))
        return {"messages": [{"from": mail.sender, "subject": mail.subject, "text": mail.text} for mail in mails]}

    def create_subordinate(self, params: dict[str, Any]) -> dict[str, Any]:
        """Create a record of an engagement."""
        kind, engagement_id = _one_of(params, "kind", KINDS), _text(params, "engagementId")
        if self._service.store.engagement(engagement_id) is None:
            raise _RpcError(_INVALID_PARAMS, "engagementId names no engagement")
        return {"id": self._service.add_subordinate(engagement_id, kind)}

    def subordinate_exists(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return whether a record of an engagement exists."""
        kind = _one_of(params, "kind", KINDS)
        subordinate = Subordinate(_text(params, "id"), _text(params, "engagementId"), kind)
        return {"exists": self._service.store.subordinate_exists(subordinate)}

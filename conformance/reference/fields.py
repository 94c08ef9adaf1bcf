"""Validation of single values: names, descriptions, addresses and closed lists."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from conformance.reference.reading import Reading
from conformance.reference.refusal import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.reference.json_body import Json

_LONG_NAME = 255
_LONG_DESCRIPTION = 10_000
ADDRESS = re.compile(r"[^@\s\x00-\x1f\x7f<>,;:\"()\[\]\\]{1,64}@[^@\s\x00-\x1f\x7f<>,;:\"()\[\]\\]{1,255}")
_BLANKS = re.compile(r" +")
_PLAIN = re.compile(r"[A-Za-z0-9 -]*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class Fields(Reading):
    """Validation of values; each method returns the value to store."""

    def name(self, value: Json) -> str:
        """Check a name of an engagement or an organization."""
        name = self.text("name", value)
        if not name:
            self.rule("empty_name", "The name is empty.")
        elif name.isspace():
            self.rule("blank_name", "The name is blank.")
        if len(name) > _LONG_NAME:
            self.rule("long_name", f"A name has at most {_LONG_NAME} characters.")
        if (limit := self.latitude["name_limit"]) != "any" and len(name) > int(limit):
            raise Refusal(422, f"A name has at most {limit} characters.")
        if _CONTROL.search(name):
            self.rule("odd_name", "The name has control characters.")
        self.check_odd(name)
        return self.tidy(name)

    def description(self, value: Json) -> str | None:
        """Check the description of an engagement."""
        if value is None:
            self.without_description()
            return None
        description = self.text("description", value)
        if len(description) > _LONG_DESCRIPTION:
            self.rule("long_description", f"A description has at most {_LONG_DESCRIPTION} characters.")
        if (limit := self.latitude["description_limit"]) != "any" and len(description) > int(limit):
            raise Refusal(422, f"A description has at most {limit} characters.")
        if description and (least := self.latitude["description_least"]) != "none" and len(description) < int(least):
            raise Refusal(422, f"A description has at least {least} characters.")
        if self.latitude["description_signs"] == "plain" and _PLAIN.fullmatch(description) is None:
            raise Refusal(422, "A description has letters, digits, blanks and hyphens only.")
        self.check_odd(description)
        return self.tidy(description)

    def without_description(self) -> str:
        """Return the choice for a null description, or refuse it."""
        return self.rule("null_description", "The description is null.")

    def email(self, value: Json) -> str:
        """Check the address of an invitation."""
        email = self.text("email", value)
        if not ADDRESS.fullmatch(email):
            self.refuse("bad_email", "The email is not an e-mail address.")
        return email.lower() if self.latitude["email_case"] == "lowered" else email

    def text(self, field: str, value: Json) -> str:
        """Check that a value is a string with a UTF-8 form."""
        if not isinstance(value, str):
            self.refuse("wrong_type", f"The field {field} must be a string.")
        try:
            value.encode()
        except UnicodeEncodeError:
            self.refuse("lone_surrogate", f"The field {field} has half of a surrogate pair. Send both halves.")
        return value

    def check_odd(self, text: str) -> None:
        """Refuse the text that ``odd_text`` names."""
        status, _, kind = self.latitude["odd_text"].partition("-")
        if (kind == "markup" and re.search("[<>&]", text)) or (kind == "not-ascii" and not text.isascii()):
            raise Refusal(int(status), "The text has characters that this service does not accept.")

    def tidy(self, text: str) -> str:
        """Return text in the form in which this service stores it."""
        if self.latitude["normalization"] == "NFC":
            text = unicodedata.normalize("NFC", text)
        blanks = self.latitude["blanks"]
        text = text if blanks == "kept" else text.strip(" ")
        return _BLANKS.sub(" ", text) if blanks == "merged" else text

    def choice(self, field: str, value: str, permitted: Iterable[str]) -> str:
        """Check a value against a closed list."""
        known = {name: name for name in permitted}
        if self.latitude["choice_case"] == "accepted":
            known |= {name.lower(): name for name in known}
            value = value if value in known else value.lower()
        if value not in known:
            self.refuse("bad_choice", f"The value of {field} must be one of: {', '.join(permitted)}.")
        return known[value]

    def role(self, value: Json) -> str:
        """Check a role that a member can get."""
        return self.choice("role", self.text("role", value), ("admin", "member"))

"""Open points about what a request may say."""

from conformance.reference.latitude.point import Point

_BODY = ("422", "400")
_TOLERATED = ("ignored", "422", "400")

INPUT_POINTS = (
    Point("malformed_body", "How is a body refused that is no JSON?", ("400", "422")),
    Point("unparsable_body", "What is looked at first, the key or a body that is no JSON?", ("key", "body")),
    Point("body_not_object", "How is a body refused that is no object?", _BODY),
    Point("missing_field", "How is a body refused that lacks a required field?", _BODY),
    Point("wrong_type", "How is a field of another JSON type refused?", _BODY),
    Point("bad_choice", "How is a value refused that is not in a closed list?", _BODY),
    Point("bad_email", "How is an address refused that is none?", _BODY),
    Point("bad_integer", "How is a page or perPage refused that is no integer?", _BODY),
    Point("page_below_one", "What becomes of a page below 1?", ("422", "400", "clamped")),
    Point("per_page_below_one", "What becomes of a perPage below 1?", ("422", "400", "clamped", "default")),
    Point("per_page_above_maximum", "What becomes of a perPage above 100?", ("422", "400", "clamped", "default")),
    Point("page_past_end", "What is a page past the end?", ("empty", "404", "400", "422", "416")),
    Point("odd_integer", "Which odd ways to write an integer are read?", ("none", "leading-zeros", "most")),
    Point("empty_parameter", "What becomes of a parameter with an empty value?", ("422", "400", "ignored")),
    Point("repeated_parameter", "Which value of a repeated parameter counts?", ("last", "first", "422", "400")),
    Point("unknown_parameter", "What becomes of a parameter that the operation does not know?", _TOLERATED),
    Point("choice_case", "Is another letter case of a role, status, sort or order read?", ("refused", "accepted")),
    Point("more_sorts", "Can engagements be sorted by what the interface does not name?", ("none", "status")),
    Point("role_owner", "How is a change of role to owner refused?", ("422", "400", "403", "409")),
    Point("unarchive_request", "How is unarchiving refused without a JSON body?", ("accepted", "415", "400", "422")),
    Point("unknown_field", "What becomes of a body field that the operation does not know?", _TOLERATED),
    Point("read_only_field", "What becomes of a body field that clients cannot set?", _TOLERATED),
    Point("repeated_field", "Which value of a repeated body field counts?", ("last", "first", "400", "422")),
    Point("empty_patch", "What becomes of an edit without any field?", ("accepted", "422", "400")),
    Point("empty_patch_time", "Does an edit without any field move updatedAt?", ("stays", "moves")),
    Point("null_name", "What becomes of null for an optional name?", ("422", "400", "ignored")),
    Point("null_description", "What becomes of null for a description?", ("accepted", "422", "400", "ignored")),
    Point("empty_name", "What becomes of an empty name?", ("422", "400", "accepted")),
    Point("blank_name", "What becomes of a name of blanks?", ("422", "400", "accepted")),
    Point("long_name", "What becomes of a name over 255 characters?", ("accepted", "422", "400", "413")),
    Point("description_least", "How many characters must a description have at least?", ("none", "10")),
    Point("description_limit", "How many characters may a description have at most?", ("any", "30")),
    Point("name_limit", "How many characters may a name have at most?", ("any", "30")),
    Point(
        "long_description", "What becomes of a description over 10,000 characters?", ("accepted", "422", "400", "413")
    ),
    Point("odd_name", "What becomes of a name with control characters?", ("accepted", "422", "400")),
    Point("odd_text", "Which names and descriptions are refused as odd?", ("none", "422-markup", "400-not-ascii")),
    Point("lone_surrogate", "How is text refused that has no UTF-8 form?", _BODY),
    Point("blanks", "What becomes of leading, trailing and repeated blanks?", ("kept", "trimmed", "merged")),
    Point("normalization", "Is text brought to a Unicode normal form?", ("none", "NFC")),
    Point("email_case", "What becomes of capitals in an address?", ("kept", "lowered")),
    Point("body_limit", "How long may a body be?", ("1MiB", "64KiB", "8MiB")),
    Point("wrong_content_type", "What becomes of a body with another Content-Type?", ("400", "415", "accepted")),
    Point("missing_content_type", "What becomes of a body without a Content-Type?", ("400", "415", "accepted")),
    Point(
        "malformed_identifier", "How is an identifier refused of a shape that was never issued?", ("404", "400", "422")
    ),
)

"""Open points of requests."""

from conformance.reference.latitude.point import Point

_BODY = ("422", "400")
_TOLERATED = ("ignored", "422", "400")

INPUT_POINTS = (
    Point("malformed_body", "Which status refuses a body that is not JSON?", ("400", "422")),
    Point("unparsable_body", "Which is checked first, the key or the JSON syntax of the body?", ("key", "body")),
    Point("body_not_object", "Which status refuses a body that is not an object?", _BODY),
    Point("missing_field", "Which status refuses a body without a required field?", _BODY),
    Point("wrong_type", "Which status refuses a field of the wrong JSON type?", _BODY),
    Point("bad_choice", "Which status refuses a value outside a closed list?", _BODY),
    Point("bad_email", "Which status refuses an invalid e-mail address?", _BODY),
    Point("bad_integer", "Which status refuses a page or perPage that is not an integer?", _BODY),
    Point("page_below_one", "How is a page below 1 handled?", ("422", "400", "clamped")),
    Point("per_page_below_one", "How is a perPage below 1 handled?", ("422", "400", "clamped", "default")),
    Point("per_page_above_maximum", "How is a perPage above 100 handled?", ("422", "400", "clamped", "default")),
    Point("page_past_end", "How is a page past the end handled?", ("empty", "404", "400", "422", "416")),
    Point("odd_integer", "Which unusual forms of an integer are accepted?", ("none", "leading-zeros", "most")),
    Point("empty_parameter", "How is a parameter with an empty value handled?", ("422", "400", "ignored")),
    Point("repeated_parameter", "Which value of a repeated parameter counts?", ("last", "first", "422", "400")),
    Point("unknown_parameter", "How is an unknown parameter handled?", _TOLERATED),
    Point("choice_case", "Is another letter case of a role, status, sort or order accepted?", ("refused", "accepted")),
    Point("more_sorts", "Which undocumented sort keys are accepted?", ("none", "status")),
    Point("role_owner", "Which status refuses a role change to owner?", ("422", "400", "403", "409")),
    Point("unarchive_request", "How is unarchiving without a JSON body handled?", ("accepted", "415", "400", "422")),
    Point("unknown_field", "How is an unknown body field handled?", _TOLERATED),
    Point("read_only_field", "How is a read-only body field handled?", _TOLERATED),
    Point("repeated_field", "Which value of a repeated body field counts?", ("last", "first", "400", "422")),
    Point("empty_patch", "How is an edit without fields handled?", ("accepted", "422", "400")),
    Point("empty_patch_time", "Does an edit without fields move updatedAt?", ("stays", "moves")),
    Point("null_name", "How is a null name in an edit handled?", ("422", "400", "ignored")),
    Point("null_description", "How is a null description handled?", ("accepted", "422", "400", "ignored")),
    Point("empty_name", "How is an empty name handled?", ("422", "400", "accepted")),
    Point("blank_name", "How is a name of only blanks handled?", ("422", "400", "accepted")),
    Point("long_name", "How is a name over 255 characters handled?", ("accepted", "422", "400", "413")),
    Point("description_least", "What is the minimum length of a description?", ("none", "10", "20")),
    Point("description_signs", "Which characters may a description have?", ("any", "plain")),
    Point("description_limit", "What is the maximum length of a description?", ("any", "30")),
    Point("name_limit", "What is the maximum length of a name?", ("any", "30")),
    Point(
        "long_description", "How is a description over 10,000 characters handled?", ("accepted", "422", "400", "413")
    ),
    Point("odd_name", "How is a name with control characters handled?", ("accepted", "422", "400")),
    Point("odd_text", "Which characters are refused in texts?", ("none", "422-markup", "400-not-ascii")),
    Point("lone_surrogate", "Which status refuses text with a lone surrogate?", _BODY),
    Point("blanks", "How are leading, trailing and repeated blanks stored?", ("kept", "trimmed", "merged")),
    Point("normalization", "To which Unicode normal form is text converted?", ("none", "NFC")),
    Point("email_case", "Are capitals in an e-mail address kept?", ("kept", "lowered")),
    Point("body_limit", "What is the maximum length of a body?", ("1MiB", "64KiB", "8MiB")),
    Point("wrong_content_type", "How is a body with another Content-Type handled?", ("400", "415", "accepted")),
    Point("missing_content_type", "How is a body without a Content-Type handled?", ("400", "415", "accepted")),
    Point("malformed_identifier", "Which status refuses an identifier in an unknown format?", ("404", "400", "422")),
)

"""Open points of the transport of responses."""

from conformance.reference.latitude.point import Point

TRANSPORT_POINTS = (
    Point(
        "media_type",
        "Which JSON media type does a success have?",
        (
            "application/json",
            "application/json; charset=utf-8",
            "Application/JSON;charset=UTF-8",
            "text/json",
            "application/vnd.engagements.v1+json",
        ),
    ),
    Point("error_media_type", "Which JSON media type does an error have?", ("alike", "application/problem+json")),
    Point("json_text", "How is JSON formatted?", ("compact", "ascii", "indented", "reversed", "repeating")),
    Point("content_coding", "Are responses compressed for clients that accept it?", ("identity", "gzip")),
    Point("framing", "How is the end of a response body marked?", ("length", "chunked")),
    Point("connection", "Does the connection stay open?", ("kept", "closed")),
    Point("header_case", "Which letter case do header names have?", ("as-documented", "lower", "upper")),
    Point("extra_headers", "Do responses have undocumented headers?", ("none", "many")),
    Point("gateway", "Which gateway stands in front of the service?", ("nothing", "strict")),
    Point("pace", "How long does a response take?", ("prompt", "slow", "uneven")),
    Point(
        "service_clock",
        "How wrong is the service's clock, and does Date show it?",
        (
            "right",
            "right-undated",
            "4-minutes-behind-undated",
            "4-minutes-ahead-undated",
            "a-year-behind",
            "a-day-ahead",
            "4-minutes-behind-its-gateway",
        ),
    ),
    Point("rate_window", "Which algorithm limits requests?", ("fixed", "sliding", "bucket", "hourly")),
    Point("rate_limit", "How many requests does a window allow?", ("generous", "tight", "endless")),
    Point("rate_reset", "Which format does X-RateLimit-Reset have in a fixed window?", ("whole", "decimal")),
    Point("refused_requests", "Do refused requests count against the limit?", ("count", "free")),
    Point("retry_after", "Does a 429 have a Retry-After header?", ("absent", "seconds", "date")),
    Point("head_requests", "How is HEAD handled?", ("like-get", "405")),
    Point("options_requests", "How is OPTIONS handled?", ("405", "200")),
    Point("other_method", "Which status refuses another method on a known path?", ("405", "404")),
    Point("trailing_slash", "How is a path with a trailing slash handled?", ("404", "accepted")),
)

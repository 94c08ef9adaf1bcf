"""Open points about how an answer travels."""

from conformance.reference.latitude.point import Point

TRANSPORT_POINTS = (
    Point(
        "media_type",
        "Which JSON media type has a success?",
        (
            "application/json",
            "application/json; charset=utf-8",
            "Application/JSON;charset=UTF-8",
            "text/json",
            "application/vnd.engagements.v1+json",
        ),
    ),
    Point("error_media_type", "Which JSON media type has an error?", ("alike", "application/problem+json")),
    Point("json_text", "How is JSON written?", ("compact", "ascii", "indented", "reversed", "repeating")),
    Point("content_coding", "Are answers compressed for clients that take it?", ("identity", "gzip")),
    Point("framing", "How does a client know where an answer ends?", ("length", "chunked")),
    Point("connection", "Does the connection stay open?", ("kept", "closed")),
    Point("header_case", "In which letter case are header names written?", ("as-documented", "lower", "upper")),
    Point("extra_headers", "Are there other headers?", ("none", "many")),
    Point("gateway", "What stands before the service?", ("nothing", "strict")),
    Point("pace", "How long does an answer take?", ("prompt", "slow", "uneven")),
    Point(
        "service_clock",
        "How far is the service's clock off, and does it say so?",
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
    Point("rate_window", "How are requests limited?", ("fixed", "sliding", "bucket", "hourly")),
    Point("rate_limit", "How many requests has a window?", ("generous", "tight", "endless")),
    Point("rate_reset", "How is the end of a fixed window written?", ("whole", "decimal")),
    Point("refused_requests", "Do refused requests count against the limit?", ("count", "free")),
    Point("retry_after", "Does a 429 say how long to wait?", ("absent", "seconds", "date")),
    Point("head_requests", "What becomes of HEAD?", ("like-get", "405")),
    Point("options_requests", "What becomes of OPTIONS?", ("405", "200")),
    Point("other_method", "How is another method refused on a known path?", ("405", "404")),
    Point("trailing_slash", "Is a path with a slash behind it read?", ("404", "accepted")),
)

"""Open points about what an answer says."""

from conformance.reference.latitude.point import Point

RESPONSE_POINTS = (
    Point("create_status", "Which status has a creation?", ("201", "200", "202")),
    Point("invite_status", "Which status has an invitation?", ("201", "200", "202")),
    Point("update_status", "Which status has an edit of an engagement?", ("200", "201", "202", "203")),
    Point("archive_status", "Which status has an archiving?", ("200", "201", "202")),
    Point("unarchive_status", "Which status has an unarchiving that succeeds?", ("200", "201", "202")),
    Point(
        "update_answer", "What does a successful edit of an engagement show?", ("engagement", "identifier", "nothing")
    ),
    Point("unarchive_answer", "What does a successful unarchiving show?", ("engagement", "state", "nothing")),
    Point("never_described", "How does a description read that nobody gave?", ("null", "absent", "empty")),
    Point("never_seen", "How does lastSeenAt of a member read who was never active?", ("joined", "null")),
    Point("extra_members", "Does an answer have members that the interface does not name?", ("none", "everywhere")),
    Point("empty_total_pages", "How many pages has an empty list?", ("0", "1")),
    Point("error_message", "What does the message of an error say?", ("sentence", "empty")),
    Point("challenge", "Does a 401 name the scheme it wants?", ("absent", "bearer")),
    Point(
        "identifier_shape",
        "What do identifiers look like?",
        (
            "prefixed",
            "uuid",
            "ulid",
            "integer",
            "dotted",
            "reserved",
            "long",
        ),
    ),
    Point("clock_ticks", "How fine is the clock of timestamps?", ("milliseconds", "seconds")),
    Point("invitation_expiry", "Is an invitation's end rounded to a whole second?", ("exact", "rounded")),
    Point(
        "default_sort",
        "What is the order of engagements without sort?",
        (
            "createdAt",
            "updatedAt",
            "name",
            "createdAt-ascending",
            "name-ascending",
        ),
    ),
    Point("member_order", "What is the order of members?", ("joined", "newest", "name", "email")),
    Point("tie_order", "What is the order of engagements with equal keys?", ("newest", "oldest", "id")),
    Point("name_collation", "How do names collate?", ("binary", "caseless", "folded")),
    Point("settings_defaults", "What are the settings of an organization?", ("mixed", "off", "on")),
    Point("plan_name", "What is a plan called?", ("team", "ENTERPRISE_2024", "free trial")),
)

"""Open points of the content of responses."""

from conformance.reference.latitude.point import Point

RESPONSE_POINTS = (
    Point("create_status", "Which status does a successful creation have?", ("201", "200", "202")),
    Point("invite_status", "Which status does a successful invitation have?", ("201", "200", "202")),
    Point("update_status", "Which status does a successful edit of an engagement have?", ("200", "201", "202", "203")),
    Point("archive_status", "Which status does a successful archive have?", ("200", "201", "202")),
    Point("unarchive_status", "Which status does a successful unarchive have?", ("200", "201", "202")),
    Point(
        "update_answer",
        "What does the response to an edit of an engagement show?",
        ("engagement", "identifier", "nothing"),
    ),
    Point("unarchive_answer", "What does the response to an unarchive show?", ("engagement", "state", "nothing")),
    Point("never_described", "How is a missing description shown?", ("null", "absent", "empty")),
    Point("never_seen", "Which lastSeenAt does a member have who was never active?", ("joined", "null")),
    Point("extra_members", "Do responses have undocumented members?", ("none", "everywhere")),
    Point("empty_total_pages", "How many pages does an empty list have?", ("0", "1")),
    Point("error_message", "Which message do errors have?", ("sentence", "empty")),
    Point("challenge", "Does a 401 name its authentication scheme?", ("absent", "bearer")),
    Point(
        "identifier_shape",
        "Which format do identifiers have?",
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
    Point("clock_ticks", "Which resolution does the service's clock have?", ("milliseconds", "seconds")),
    Point("invitation_expiry", "Is the expiry of an invitation rounded to whole seconds?", ("exact", "rounded")),
    Point(
        "default_sort",
        "Which order do engagements have without sort?",
        (
            "createdAt",
            "updatedAt",
            "name",
            "createdAt-ascending",
            "name-ascending",
        ),
    ),
    Point("member_order", "Which order do members have?", ("joined", "newest", "name", "email")),
    Point("tie_order", "Which order do engagements with equal sort keys have?", ("newest", "oldest", "id")),
    Point("name_collation", "How are names compared for sorting?", ("binary", "caseless", "folded")),
    Point("settings_defaults", "What are the settings of an organization?", ("mixed", "off", "on")),
    Point("plan_name", "What is the name of the plan?", ("team", "ENTERPRISE_2024", "free trial")),
)

"""Open points of permissions, changes and their effects."""

from conformance.reference.latitude.point import Point

RULE_POINTS = (
    Point(
        "refusal_order",
        "In which order is a request checked?",
        (
            "scope,body,lookup",
            "scope,lookup,body",
            "body,scope,lookup",
            "body,lookup,scope",
            "lookup,scope,body",
            "lookup,body,scope",
        ),
    ),
    Point(
        "scope_implication",
        "Which permissions include others of their family?",
        (
            "none",
            "write-reads",
            "write-deletes",
            "delete-writes",
            "delete-reads",
            "all-downwards",
        ),
    ),
    Point(
        "list_scope",
        "Which permission does listing engagements need?",
        (
            "engagements:read",
            "engagements:write",
            "engagements:delete",
            "organizations:read",
            "any",
            "engagements:list",
        ),
    ),
    Point(
        "unarchive_scope",
        "Which permission does unarchiving need?",
        (
            "engagements:write",
            "engagements:read",
            "engagements:delete",
            "organizations:write",
            "any",
            "engagements:unarchive",
        ),
    ),
    Point("bearer_case", "Is the scheme Bearer accepted in another letter case?", ("accepted", "refused")),
    Point("removed_member_key", "Which status refuses the key of a removed member?", ("401", "403")),
    Point("foreign_resource", "Which status refuses a resource of another organization?", ("404", "403")),
    Point(
        "duplicate_name", "How is a name in use handled?", ("accepted", "409", "409-alike", "409-active", "409-former")
    ),
    Point(
        "archive_again",
        "How is archiving an archived engagement handled?",
        (
            "409",
            "200",
            "200-refreshed",
            "200-noted",
            "200-bare",
            "400",
            "403",
            "422",
        ),
    ),
    Point(
        "archived_edit",
        "Which status refuses an edit of an archived engagement?",
        (
            "409",
            "403",
            "400",
            "422",
            "423",
            "405",
            "410",
        ),
    ),
    Point(
        "unarchive",
        "How is unarchiving an archived engagement handled?",
        (
            "activates",
            "activates-quietly",
            "activates-later",
            "nothing",
            "409",
            "403",
            "400",
            "422",
        ),
    ),
    Point("unarchive_active", "How is unarchiving an active engagement handled?", ("409", "200", "400", "422")),
    Point("same_values", "Does an edit with the current values move updatedAt?", ("moves", "stays")),
    Point("same_role", "How is a role change to the current role handled?", ("moves", "stays", "409", "422")),
    Point("owner_role", "Which status refuses a role change of an owner?", ("403", "400", "409", "422", "405")),
    Point("invite_member", "How is an invitation of a member handled?", ("409", "422", "400", "accepted")),
    Point("invite_again", "How is a second invitation of an address handled?", ("409", "422", "400", "accepted")),
    Point("parallel_edit", "How is an edit during another edit handled?", ("waits", "409", "404")),
    Point(
        "list_reading",
        "Are the items of a list read with its count, and if later, are they cut to it?",
        ("with-its-count", "after-its-count", "up-to-its-count"),
    ),
    Point("change_clock", "When does a change of an engagement read the clock?", ("when-made", "before-waiting")),
    Point(
        "subordinate_deletion",
        "When are the subordinate records of a deleted engagement deleted?",
        ("at-once", "later"),
    ),
    Point("mail_dispatch", "When is the mail of an invitation sent?", ("at-once", "later")),
    Point("mail_form", "Which format does the mail of an invitation have?", ("text", "html", "both", "base64")),
    Point(
        "company",
        "How much do other users change the organization meanwhile?",
        ("none", "busy", "administrators", "hundreds", "thousands"),
    ),
)

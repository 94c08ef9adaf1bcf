"""Tables of the store.

``seq`` keeps the order of insertion, which the identifiers do not show. Subordinate records are not
tied to their engagement by a foreign key: their removal is a rule of the service, visible in its code.
"""

TABLES = """
CREATE TABLE IF NOT EXISTS counters (kind TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;

CREATE TABLE IF NOT EXISTS organizations (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    slug TEXT NOT NULL UNIQUE,
    plan TEXT NOT NULL,
    require_two_factor INTEGER NOT NULL,
    domain_auto_join INTEGER NOT NULL,
    sso_enabled INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS users (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS members (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    organization_id TEXT NOT NULL REFERENCES organizations (id),
    user_id TEXT NOT NULL REFERENCES users (id),
    role TEXT NOT NULL,
    joined_at INTEGER NOT NULL,
    last_seen_at INTEGER,
    updated_at INTEGER NOT NULL,
    UNIQUE (organization_id, user_id)
) STRICT;

CREATE TABLE IF NOT EXISTS invitations (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    organization_id TEXT NOT NULL REFERENCES organizations (id),
    email TEXT NOT NULL,
    role TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    token_digest TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE IF NOT EXISTS engagements (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    organization_id TEXT NOT NULL REFERENCES organizations (id),
    name TEXT NOT NULL,
    description TEXT,
    status TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS engagements_of_organization ON engagements (organization_id, status);

CREATE TABLE IF NOT EXISTS subordinates (
    id TEXT PRIMARY KEY,
    engagement_id TEXT NOT NULL,
    kind TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS subordinates_of_engagement ON subordinates (engagement_id, kind);

CREATE TABLE IF NOT EXISTS keys (
    digest TEXT PRIMARY KEY,
    organization_id TEXT NOT NULL REFERENCES organizations (id),
    user_id TEXT REFERENCES users (id),
    scopes TEXT NOT NULL,
    rate_limit INTEGER,
    rate_window INTEGER
) STRICT;

CREATE TABLE IF NOT EXISTS secrets (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS mails (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    sender TEXT NOT NULL,
    recipient TEXT NOT NULL,
    subject TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT;
"""

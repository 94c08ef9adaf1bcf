"""Small wrapper of SQLite: transactions, rows, counts and pages."""
# ruff: noqa: S608 - every statement consists of literals of this package; values are always bound

from __future__ import annotations

import os
import re
import sqlite3
import threading
import unicodedata
import weakref
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from conformance.reference.records import Page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from conformance.reference.queries import ListQuery

Item = TypeVar("Item")
Row = tuple[Any, ...]


@lru_cache(maxsize=4096)  # sorting compares the same names many times
def _fold(text: str) -> str:
    """Remove accents and letter case."""
    plain = unicodedata.normalize("NFKD", text)
    return "".join(sign for sign in plain if not unicodedata.combining(sign)).casefold()


def _folded_order(left: str, right: str) -> int:
    """Compare names without accents and letter case; return -1, 0 or 1."""
    folded_left, folded_right = _fold(left), _fold(right)
    return (folded_left > folded_right) - (folded_left < folded_right)


class Database:
    """A connection that one thread uses at a time.

    A second thread would deadlock: SQLite holds the connection while it waits for the interpreter to run a collation.

    Args:
        path: A database file, or ``:memory:``. A missing file is created; only its owner can read it.
        tables: The statements that create its tables.

    Raises:
        sqlite3.Error: The file is no database, or that of another program.
        OSError: It cannot be opened.
    """

    def __init__(self, path: str, tables: str) -> None:
        if path != ":memory:":
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, cached_statements=256)
        weakref.finalize(self, self._db.close)  # Python 3.13 warns of a connection that is left open
        self._lock = threading.RLock()
        own = re.findall(r"EXISTS (\w+)", tables)
        known = {name for (name,) in self._db.execute("SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'")}
        if known and (own[0] not in known or not known.issubset(own)):
            raise sqlite3.DatabaseError("it is the database of another program")
        self._db.create_collation("FOLDED", _folded_order)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.execute("PRAGMA foreign_keys = ON")
        self._db.executescript(tables)

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run the block as a transaction, with no other writer in between."""
        with self._lock:
            if self._db.in_transaction:
                yield
                return
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def execute(self, statement: str, *values: object) -> None:
        """Execute a statement that returns no rows."""
        with self._lock:
            self._db.execute(statement, values)

    def row(self, statement: str, *values: object) -> Row | None:
        """Return the first row of a result, or None if it is empty."""
        with self._lock:
            found: Row | None = self._db.execute(statement, values).fetchone()
        return found

    def rows(self, statement: str, *values: object) -> list[Row]:
        """Return all rows of a result."""
        with self._lock:
            return self._db.execute(statement, values).fetchall()

    def count(self, rest: str, *values: object) -> int:
        """Count rows; ``rest`` is the SQL after FROM."""
        return int(self.rows(f"SELECT count(*) FROM {rest}", *values)[0][0])

    def insert(self, table: str, first: Mapping[str, object], *others: Mapping[str, object]) -> None:
        """Insert rows, each a mapping by column; all have the same columns."""
        statement = f"INSERT INTO {table} ({', '.join(first)}) VALUES ({', '.join('?' * len(first))})"
        with self._lock:
            self._db.executemany(statement, [tuple(row.values()) for row in (first, *others)])

    def page(self, select: str, query: ListQuery, build: Callable[..., Item]) -> Page[Item]:
        """Return a part of an ordered list and the length of the whole list."""
        conditions = query.conditions
        where = " AND ".join(f"{column} = ?" for column in conditions)
        source = f"{select.partition(' FROM ')[2]} WHERE {where}"
        total = self.count(source, *conditions.values())
        if query.offset >= total:  # also keeps numbers from SQLite that exceed its integers
            return Page((), total)
        statement = f"{select} WHERE {where} ORDER BY {query.order} LIMIT ? OFFSET ?"
        rows = self.rows(statement, *conditions.values(), query.limit, query.offset)
        return Page(tuple(build(*row) for row in rows), total)

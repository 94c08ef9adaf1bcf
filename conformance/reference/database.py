"""SQLite made small: transactions, rows, counts, pages."""
# ruff: noqa: S608 - every statement is put together from the literals of this package; values are always bound

from __future__ import annotations

import sqlite3
import threading
import unicodedata
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from conformance.reference.records import Page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from conformance.reference.queries import ListQuery

Item = TypeVar("Item")
Row = tuple[Any, ...]


@lru_cache(maxsize=4096)  # sorting asks for the same names over and over
def _fold(text: str) -> str:
    """Strip accents and letter case."""
    plain = unicodedata.normalize("NFKD", text)
    return "".join(sign for sign in plain if not unicodedata.combining(sign)).casefold()


def _folded_order(left: str, right: str) -> int:
    """Compare names the way a dictionary does."""
    one, other = _fold(left), _fold(right)
    return (one > other) - (one < other)


class Database:
    """One connection, used by one thread at a time.

    While SQLite compares by a function of ours it holds the connection and waits for the interpreter; a second thread
    that held the interpreter and waited for the connection would never end.

    Args:
        path: A database file, made where there is none, or ``:memory:``.
        tables: The statements that make its tables.
    """

    def __init__(self, path: str, tables: str) -> None:
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, cached_statements=256)
        self._lock = threading.RLock()
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
        """Do all of what follows, or none of it, with no other writer in between."""
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
        """Carry out a statement that gives nothing back."""
        with self._lock:
            self._db.execute(statement, values)

    def row(self, statement: str, *values: object) -> Row | None:
        """Give the first row of an answer, or None where it is empty."""
        with self._lock:
            found: Row | None = self._db.execute(statement, values).fetchone()
        return found

    def rows(self, statement: str, *values: object) -> list[Row]:
        """Give all rows of an answer."""
        with self._lock:
            return self._db.execute(statement, values).fetchall()

    def count(self, rest: str, *values: object) -> int:
        """Count rows; ``rest`` is what stands after FROM."""
        return int(self.rows(f"SELECT count(*) FROM {rest}", *values)[0][0])

    def insert(self, table: str, first: Mapping[str, object], *others: Mapping[str, object]) -> None:
        """Add rows, given by column; all have the same columns."""
        statement = f"INSERT INTO {table} ({', '.join(first)}) VALUES ({', '.join('?' * len(first))})"
        with self._lock:
            self._db.executemany(statement, [tuple(row.values()) for row in (first, *others)])

    def page(self, select: str, query: ListQuery, build: Callable[..., Item]) -> Page[Item]:
        """Give one part of an ordered list and the length of the whole."""
        conditions = query.conditions
        where = " AND ".join(f"{column} = ?" for column in conditions)
        source = f"{select.partition(' FROM ')[2]} WHERE {where}"
        total = self.count(source, *conditions.values())
        if query.offset >= total:  # also keeps numbers out of SQLite that it cannot hold
            return Page((), total)
        statement = f"{select} WHERE {where} ORDER BY {query.order} LIMIT ? OFFSET ?"
        rows = self.rows(statement, *conditions.values(), query.limit, query.offset)
        return Page(tuple(build(*row) for row in rows), total)

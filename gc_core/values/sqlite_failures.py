"""What sqlite3 raises for a file that is damaged, or cannot be used."""

from __future__ import annotations


def sqlite_failures() -> tuple[type[Exception], ...]:
    """
    Return the exceptions to catch around work on an SQLite file.

    UnicodeDecodeError is one of them: SQLite quotes a damaged schema in its message, and sqlite3 decodes the message.
    """
    import sqlite3

    return sqlite3.Error, OSError, UnicodeDecodeError


def is_damage(error: BaseException | None) -> bool:
    """
    Return True if the error says that the file is damaged, or is not a database with the expected tables.

    SQLITE_ERROR ("no such column") counts: the statements are constants, so the schema has to be wrong.
    """
    import sqlite3

    if isinstance(error, UnicodeDecodeError):
        return True
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:  # raised by sqlite3 itself: a text that is not UTF-8, or a misuse, which is a ProgrammingError
        return isinstance(error, sqlite3.OperationalError)
    return code & 0xFF in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}

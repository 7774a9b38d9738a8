"""What can be wrong with the store's files, and how SQLite's errors are told to the services."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from hydramind_domain.errors import HydraMindError, Internal, ResourceExhausted, Unavailable


class StoreError(HydraMindError):
    """The store cannot be opened. `exit_code` is the daemon's exit status (sysexits)."""

    default_reason = "STORE_ERROR"
    exit_code = 65


class NewerSchema(StoreError):
    """The file was written by a newer version."""

    default_reason = "STORE_NEWER_SCHEMA"


class Damaged(StoreError):
    """Nothing of the file can be read, or it is not a store of ours."""

    default_reason = "STORE_DAMAGED"


class Unwritable(StoreError):
    """The folder or file cannot be created or written. Exit 77 when permissions forbid it, else 73."""

    default_reason = "STORE_UNWRITABLE"
    exit_code = 73


class NotPermitted(Unwritable):
    """As `Unwritable`, because files or folders belong to somebody else or are write-protected."""

    exit_code = 77


DAMAGE = (apsw.CorruptError, apsw.NotADBError)
"""Errors that mean the bytes of the file are wrong."""

_MEANINGS: tuple[tuple[tuple[type[apsw.Error], ...], type[HydraMindError], str, str], ...] = (
    (
        (apsw.FullError, apsw.NoMemError, apsw.TooBigError),
        ResourceExhausted,
        "{store} has no room: {error}; free some space, writing resumes by itself",
        "DISK_FULL",
    ),
    (
        (apsw.InterruptError,),
        Unavailable,
        "the read took longer than a read transaction may last ({error}); ask for less",
        "READ_TOO_LONG",
    ),
    ((apsw.BusyError, apsw.LockedError), Unavailable, "{store} is busy: {error}", "STORE_BUSY"),
    (DAMAGE, Internal, "{store} is damaged: {error}; restart the daemon, it keeps what can be read", "STORE_DAMAGED"),
    (
        (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError),
        Unavailable,
        "{store} cannot be written: {error}",
        "STORE_UNWRITABLE",
    ),
    ((apsw.IOError,), Unavailable, "the disk of {store} failed: {error}", "STORE_IO"),
)


def translate(error: apsw.Error, folder: Path | None = None) -> HydraMindError:
    """SQLite's error as one of the tree; `folder` is where the store is, so that one knows which disk to look at.

    A batch that met it is lost as a whole; nothing of it was kept.
    """
    store = f"the store in {folder}" if folder else "the store"
    for kinds, made, text, reason in _MEANINGS:
        if isinstance(error, kinds):
            return made(text.format(error=error, store=store), reason=reason)
    return Internal(f"{store} failed: {error}", reason="STORE_ERROR")


@contextmanager
def translated() -> Iterator[None]:
    """Raise SQLite's errors as ours."""
    try:
        yield
    except apsw.Error as error:
        raise translate(error) from error

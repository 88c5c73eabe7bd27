"""What can go wrong in the store.

PanelistError
└── StoreError       something about the database of a study
    ├── StoreUnavailable  the database cannot be reached; what was sent is not saved, send it again later
    │   └── StoreMoved    its file was deleted, replaced or overwritten; a person must look
    ├── BadStore     a database that is missing, not ours, too new, or made for another study
    ├── NoPlace      every place of the plan is held or filled
    ├── NoVisit      no visit has this number, or it is past what was asked of it
    ├── TooManyChanges    an answer that was changed more often than is kept
    └── NotOpen      the study is paused or closed: nobody new can join
"""

from panelist.core.errors import PanelistError


class StoreError(PanelistError):
    """Something about the database of a study."""


class StoreUnavailable(StoreError):
    """The database cannot be reached now; nothing of what was asked was acknowledged."""


class StoreMoved(StoreUnavailable):
    """The file of the database was deleted, replaced or overwritten; waiting alone does not help."""


class BadStore(StoreError):
    """The database is missing, not ours, too new, or made for another study."""


class NoPlace(StoreError):
    """Every place of the plan, or of the group, is held or filled."""


class NoVisit(StoreError):
    """No visit has this number, or it is past what was asked of it."""


class TooManyChanges(StoreError):
    """An answer was changed more often than is kept; the one before stands."""


class NotOpen(StoreError):
    """The study is paused or closed: nobody new can join."""

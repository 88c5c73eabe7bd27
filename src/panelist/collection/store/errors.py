"""What can go wrong in the store.

PanelistError
└── StoreError       something about the database of a study
    ├── StoreAway    the database cannot be reached; what was sent is not saved, send it again later
    ├── BadStore     a database that is not there, not ours, too new, or made for another study
    ├── NoPlace      every place of the plan is held or filled
    ├── NoVisit      no visit has this number, or it is past what was asked of it
    └── NotOpen      the study is paused or closed: nobody new comes in
"""

from panelist.core.errors import PanelistError


class StoreError(PanelistError):
    """Something about the database of a study."""


class StoreAway(StoreError):
    """The database cannot be reached now; nothing of what was asked was acknowledged."""


class BadStore(StoreError):
    """The database is not there, not ours, too new, or made for another study."""


class NoPlace(StoreError):
    """Every place of the plan, or of the group, is held or filled."""


class NoVisit(StoreError):
    """No visit has this number, or it is past what was asked of it."""


class NotOpen(StoreError):
    """The study is paused or closed: nobody new comes in."""

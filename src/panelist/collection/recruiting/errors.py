"""What can go wrong with a panel.

PanelistError
└── BadRecruiting        something that must be corrected in the study, the plan or the command first
    └── PanelRefused     the panel said no
        ├── TokenRefused the panel does not know the token, or does not allow this with it
        ├── NotThere     the panel has nothing under this id
        └── AnswerLost   no answer came: it may have been done, or not
"""

from panelist.core.errors import PanelistError


class BadRecruiting(PanelistError):
    """Something prevents recruiting; the message says what to do."""


class PanelRefused(BadRecruiting):
    """The panel said no."""


class TokenRefused(PanelRefused):
    """The panel does not know the token, or does not allow this with it."""


class NotThere(PanelRefused):
    """The panel has nothing under this id."""


class AnswerLost(PanelRefused):
    """No answer came, so it is not known whether it was done: look before asking again."""

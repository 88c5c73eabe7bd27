"""What can go wrong with a panel.

PanelistError
└── BadRecruiting        something that the study, the plan or the person has to mend first
    └── PanelRefused     the panel said no
        ├── TokenRefused the panel does not know the token, or does not let it do this
        ├── NotThere     the panel has nothing under this id
        └── AnswerLost   no answer came: it may have been done, or not
"""

from panelist.core.errors import PanelistError


class BadRecruiting(PanelistError):
    """Something is in the way of recruiting; the message says what to do."""


class PanelRefused(BadRecruiting):
    """The panel said no."""


class TokenRefused(PanelRefused):
    """The panel does not know the token, or does not let it do this."""


class NotThere(PanelRefused):
    """The panel has nothing under this id."""


class AnswerLost(PanelRefused):
    """No answer came, so that nobody knows whether it was done: look before asking again."""

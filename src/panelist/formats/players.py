"""Sound and film: played by the browser's own controls, with captions and an open transcript."""

from typing import ClassVar

from markupsafe import Markup

from panelist.formats.base import FORMATS, FormatOptions, Say, Stimulus, StimulusFormat
from panelist.formats.media_types import refuse_name
from panelist.formats.plain import render_text

# Below the player stands what is ticked where the file cannot be played; the page shows it only then.
_PLAYER = Markup(
    '<figure class="player"><{tag} controls preload="metadata" controlslist="nodownload"{attributes} '
    'src="media:{number}" aria-label="{label}">{track}</{tag}>'
    '<label class="choice small unplayable"><input type="checkbox" name="media:{number}" value="1"> '
    "{unplayable}</label>{below}</figure>"
)


def draw_player(
    tag: str, say: Say, number: int = 1, *, attributes: str = "", track: str = "", below: str = ""
) -> Markup:
    """Return the browser's own player of the file of this number, and the answer that it does not play.

    ``track`` and ``below`` are HTML within the player and below it.
    """
    label, unplayable = say("film" if tag == "video" else "sound"), say("unplayable")
    return _PLAYER.format(
        tag=tag,
        attributes=Markup(attributes),
        number=number,
        label=label,
        track=Markup(track),
        unplayable=unplayable,
        below=Markup(below),
    )


class _Player(StimulusFormat):
    """A file with a beginning and an end: the cell names it."""

    tag: ClassVar[str]
    attributes: ClassVar[str] = ""

    def find_problem(self, cell: Stimulus, options: FormatOptions) -> str:
        """Return what is wrong with the name of the file."""
        return refuse_name(cell.text.strip(), self.kinds)

    def list_files(self, cell: Stimulus, options: FormatOptions) -> tuple[str, ...]:
        """Return the file, and the captions where there are some."""
        return tuple(filter(None, (cell.text.strip(), cell.captions)))

    def read_words(self, cell: Stimulus, options: FormatOptions) -> str:
        """Return what is said."""
        return cell.transcript

    def show(self, cell: Stimulus, options: FormatOptions, say: Say) -> Markup:
        """Return the player, and the transcript below it."""
        track = Markup('<track kind="captions" src="media:2" default>') if cell.captions else Markup("")
        below = Markup("")
        if cell.transcript.strip():
            title = Markup('<p class="label">{}</p>').format(say("transcript"))
            below = Markup('<figcaption class="transcript">{}{}</figcaption>').format(
                title, render_text(cell.transcript)
            )
        return draw_player(self.tag, say, attributes=self.attributes, track=track, below=below)


class Sound(_Player):
    """Sound."""

    kinds = frozenset({"sound"})
    tag = "audio"


class Film(_Player):
    """Film."""

    kinds = frozenset({"film"})
    tag = "video"
    attributes = " playsinline disablepictureinpicture"


FORMATS.register("audio")(Sound())
FORMATS.register("video")(Film())

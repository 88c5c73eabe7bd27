"""Sound and film: played by the browser's own controls, with captions and an open transcript."""

from typing import ClassVar

from markupsafe import Markup

from panelist.formats.base import FORMATS, FormatOptions, Say, Stimulus, StimulusFormat
from panelist.formats.media_types import refuse_name
from panelist.formats.plain import render_text

# It is ticked where the file cannot be played; the page shows it only then.
_UNPLAYABLE = Markup(
    '<label class="choice small unplayable"><input type="checkbox" name="media:1" value="1"> {}</label>'
)


class _Player(StimulusFormat):
    """A file with a beginning and an end: the cell names it."""

    tag: ClassVar[str]
    attributes: ClassVar[str] = ""
    label: ClassVar[str]
    """The key of what it is called."""

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
        player = Markup(
            '<{tag} controls preload="metadata" controlslist="nodownload"{attributes} src="media:1" '
            'aria-label="{label}">{track}</{tag}>'
        ).format(tag=self.tag, attributes=Markup(self.attributes), label=say(self.label), track=track)
        below = _UNPLAYABLE.format(say("unplayable"))
        if cell.transcript.strip():
            title = Markup('<p class="label">{}</p>').format(say("transcript"))
            below += Markup('<figcaption class="transcript">{}{}</figcaption>').format(
                title, render_text(cell.transcript)
            )
        return Markup('<figure class="player">{}{}</figure>').format(player, below)


class Sound(_Player):
    """Sound."""

    kinds = frozenset({"sound"})
    tag, label = "audio", "sound"


class Film(_Player):
    """Film."""

    kinds = frozenset({"film"})
    tag, label = "video", "film"
    attributes = " playsinline disablepictureinpicture"


FORMATS.register("audio")(Sound())
FORMATS.register("video")(Film())

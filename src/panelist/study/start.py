"""A new study: a folder with a study file that runs as it is."""

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from panelist.core.errors import BadFile, UnknownName, did_you_mean
from panelist.study.file_names import STUDY_FILE
from panelist.study.reading.json_schema import SCHEMA_NAME, write_schema


def list_templates() -> dict[str, Traversable]:
    """Return the folders of the templates, by name."""
    folder = files("panelist.study") / "templates"
    return {
        one.name: one
        for one in sorted(folder.iterdir(), key=lambda one: one.name)
        if (one.is_dir() and (one / STUDY_FILE).is_file())
    }


def init_study(folder: str | Path, template: str = "likert") -> list[Path]:
    """Return the files of a new study, copied from a template into a folder that is new or empty."""
    templates = list_templates()
    if template not in templates:
        raise UnknownName(f"No template is called {template!r}. {did_you_mean(template, templates)}")
    return _begin(Path(folder), templates[template])


def init_example(folder: str | Path) -> list[Path]:
    """Return the files of the example study, copied into a folder that is new or empty."""
    return _begin(Path(folder), files("panelist.study") / "example")


def check_new_folder(folder: Path) -> None:
    """Raise BadFile unless the folder is new or empty."""
    if folder.exists() and not folder.is_dir():
        raise BadFile(f"{folder} is a file; name a new folder.")
    if folder.is_dir() and (there := sorted(one.name for one in folder.iterdir())):
        listed = ", ".join(there[:3]) + (", …" if len(there) > 3 else "")
        raise BadFile(
            f"The folder {folder} is not empty (it holds {listed}); nothing was written. Name a new one."
        )


def _begin(folder: Path, source: Traversable) -> list[Path]:
    check_new_folder(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        made = list(_copy(source, folder))
        schema = folder / SCHEMA_NAME
        schema.write_text(write_schema(), encoding="utf-8")
    except OSError as error:
        raise BadFile(f"The study cannot be written to {folder}: {error.strerror or error}.") from error
    return [*made, schema]


def _copy(source: Traversable, target: Path) -> list[Path]:
    made = []
    for one in sorted(source.iterdir(), key=lambda one: (one.name != STUDY_FILE, one.name)):
        path = target / one.name
        if one.is_dir():
            path.mkdir()
            made += _copy(one, path)
        else:
            path.write_bytes(one.read_bytes())
            made.append(path)
    return made

import json
import re

import pytest

from panelist.collection.pages.translations import FOLDER, find_languages, load_words
from panelist.core.errors import UnknownName

SOURCES = FOLDER.parents[2]
ARABIC = "other one two few few many many other other few many"
FORMS = {"ar": {"one", "two", "few", "many", "other"}}
CHOSEN = (  # texts that the templates choose by the kind of a page begin so
    r"(feedback|finished|screened_out|declined|paused|closed|full|incompatible|released|timed_out|away|waiting|begun|busy|unknown|trouble|home"
    r"|again|break|pause|warning|please|device|turn)_"
)


def read(language: str) -> dict[str, object]:
    texts = json.loads((FOLDER / f"{language}.json").read_text(encoding="utf-8"))
    assert isinstance(texts, dict)
    return texts


def blanks(text: object) -> set[str]:
    forms = text.values() if isinstance(text, dict) else [text]
    return {name for form in forms for name in re.findall(r"{(\w+)}", str(form))}


def test_six_languages_are_spoken() -> None:
    assert set(find_languages()) == {"ar", "de", "en", "es", "fr", "nl"}


@pytest.mark.parametrize("language", find_languages())
def test_every_language_has_the_same_texts_with_the_same_blanks(language: str) -> None:
    english, texts = read("en"), read(language)
    assert list(texts) == list(english)
    for key, text in texts.items():
        assert type(text) is type(english[key]), key
        assert blanks(text) | {"n"} == blanks(english[key]) | {"n"}, (
            key
        )  # a form may say "one" for its number
        if isinstance(text, dict):
            assert set(text) == FORMS.get(language, {"one", "other"}), key
    months = texts["months"]
    assert isinstance(months, list)
    assert len(months) == 12


@pytest.mark.parametrize("language", find_languages())
def test_no_text_is_empty_or_markup(language: str) -> None:
    for key, text in read(language).items():
        for form in text.values() if isinstance(text, dict) else [text]:
            assert str(form).strip() == str(form) != "", key
            assert "<" not in str(form), key


def test_arabic_alone_runs_from_right_to_left() -> None:
    assert {code for code in find_languages() if load_words(code).dir == "rtl"} == {"ar"}


def test_every_text_is_used_and_every_text_that_is_used_exists() -> None:
    base = SOURCES / "web" / "templates" / "base.html"
    paths = [
        base,
        *(SOURCES / "web" / "templates" / "rater").rglob("*.html"),
        *(
            path
            for folder in ("scales", "formats", "collection", "web")
            for path in (SOURCES / folder).rglob("*.py")
        ),
    ]
    sources = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    said = set(re.findall(r'say\("(\w+)"', sources))
    known = set(read("en"))
    assert said <= known, said - known
    unused = {key for key in known - said if f'"{key}"' not in sources and not re.match(CHOSEN, key)}
    assert unused <= {"name", "dir"}, unused


@pytest.mark.parametrize(("language", "numbers"), [("en", (0, 1, 2, 100)), ("fr", (0, 1, 2)), ("de", (1, 7))])
def test_the_number_picks_the_form(language: str, numbers: tuple[int, ...]) -> None:
    words = load_words(language)
    one = words.say("missing", 1)
    singular = {"en": {1}, "fr": {0, 1}, "de": {1}}[language]
    for n in numbers:
        assert (words.say("missing", n).replace(str(n), "1") == one) == (n in singular), n


@pytest.mark.parametrize(
    ("n", "form"), list(zip((0, 1, 2, 3, 10, 11, 99, 100, 102, 103, 111), ARABIC.split(), strict=True))
)
def test_arabic_has_five_forms(n: int, form: str) -> None:
    texts = read("ar")["leave_hours"]
    assert isinstance(texts, dict)
    assert load_words("ar").say("leave_hours", n) == texts[form].format(n=n)


def test_a_text_with_forms_wants_a_number() -> None:
    with pytest.raises(TypeError, match="give a number"):
        load_words("en").say("missing")


def test_a_regional_language_is_its_base() -> None:
    assert load_words("de-AT").language == "de"
    assert load_words("EN_gb").language == "en"


def test_an_unknown_language_names_those_that_there_are() -> None:
    with pytest.raises(UnknownName, match=r"do not speak 'xx'.*'ar', 'de', 'en'"):
        load_words("xx")


def test_a_date_reads_as_people_write_it() -> None:
    assert load_words("en").date(1_763_000_000) == "13 November 2025"
    assert load_words("es").date(1_763_000_000) == "13 de noviembre de 2025"

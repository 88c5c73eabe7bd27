import json
import re
import shutil
from pathlib import Path

import pytest

from panelist.collection.pages import translations
from panelist.collection.pages.translations import FOLDER, find_languages, list_forms, load_words
from panelist.core.errors import UnknownName
from panelist.web.rendering import Frame, render_page
from tests.collection.raters import load_template, walk_through

SOURCES = FOLDER.parents[2]
ARABIC = "other one two few few many many other other few many"
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


def test_at_least_six_languages_are_spoken() -> None:
    assert set(find_languages()) >= {"ar", "de", "en", "es", "fr", "nl"}


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
            assert set(text) == list_forms(language), key
    months = texts["months"]
    assert isinstance(months, list)
    assert len(months) == 12


@pytest.mark.parametrize("language", find_languages())
def test_no_text_is_empty_or_markup(language: str) -> None:
    for key, text in read(language).items():
        for form in text.values() if isinstance(text, dict) else [text]:
            assert str(form).strip() == str(form) != "", key
            assert "<" not in str(form), key


def test_languages_run_as_they_are_written() -> None:
    for code in find_languages():
        assert load_words(code).dir == ("rtl" if code in ("ar", "fa", "he", "ur") else "ltr"), code


def test_one_file_is_a_new_language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = shutil.copytree(FOLDER, tmp_path / "languages")
    forms = list_forms("pl")

    def speak(text: object) -> object:
        if isinstance(text, dict):
            return dict.fromkeys(forms, f"¤{text['other']}")
        return [f"¤{one}" for one in text] if isinstance(text, list) else f"¤{text}"

    english = [
        text for key, text in read("en").items() if isinstance(text, str) and key not in ("dir", "name")
    ]
    made = {key: text if key == "dir" else speak(text) for key, text in read("en").items()}
    (folder / "pl.json").write_text(json.dumps(made), encoding="utf-8")
    monkeypatch.setattr(translations, "FOLDER", folder)
    load_words.cache_clear()
    try:
        assert "pl" in find_languages()
        walk = walk_through(load_template("likert"), load_words("pl-PL"))
        asked: set[str] = set()
        for _ in range(60):
            shown = walk.look()
            page = render_page(
                shown, walk.booklet.words, Frame(walk.booklet.study.title, "/r/TOKEN", static="/s")
            )
            asked.add(type(shown).__name__)
            assert ('lang="pl"' in page, "¤" in page) == (True, True)
            assert [text for text in english if f">{text}<" in page] == []
            if walk.visit.state == "finished":
                break
            walk.go_on()
        assert len(asked) >= 6
        assert [load_words("pl").say("missing", n)[0] for n in (1, 2, 5, 22)] == ["¤"] * 4
    finally:
        load_words.cache_clear()


@pytest.mark.parametrize(
    ("language", "forms"),  # from the tables of the CLDR, for 1, 2, 5, 11, 12, 21, 22, 112
    [
        ("ru", "one few many many many one few many"),
        ("pl", "one few many many many many few many"),
        ("cs", "one few other other other other other other"),
        ("ja", "other other other other other other other other"),
    ],
)
def test_plurals_of_languages_that_may_come(language: str, forms: str) -> None:
    numbers = (1, 2, 5, 11, 12, 21, 22, 112)
    assert [translations.PLURALS[language](n) for n in numbers] == forms.split()


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
    with pytest.raises(UnknownName, match=r"no rating pages in 'xx'.*'ar', 'de', 'en'"):
        load_words("xx")


def test_a_date_reads_as_people_write_it() -> None:
    assert load_words("en").date(1_763_000_000) == "13 November 2025"
    assert load_words("es").date(1_763_000_000) == "13 de noviembre de 2025"

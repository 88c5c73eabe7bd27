import subprocess
import sys
from pathlib import Path

import pytest

from panelist.core.errors import UnknownName
from panelist.core.registry import Registry, import_siblings


def _links() -> Registry[str]:
    links = Registry[str]("link")
    for name in ("probit", "logit", "cauchit"):
        links.register(name)(name.upper())
    return links


def test_a_registered_thing_comes_back_unchanged_from_the_decorator() -> None:
    links = Registry[object]("link")
    thing = object()
    assert links.register("probit")(thing) is thing
    assert links["probit"] is thing


def test_names_come_in_sorted_order_whatever_the_order_of_registration() -> None:
    links = _links()
    assert list(links) == ["cauchit", "logit", "probit"]
    assert links.items()[0] == ("cauchit", "CAUCHIT")
    assert len(links) == 3
    assert "logit" in links
    assert "log" not in links


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"No link is called 'probti'\. Did you mean 'probit'"):
        _links()["probti"]


def test_a_name_far_from_all_is_answered_with_the_whole_list() -> None:
    with pytest.raises(UnknownName, match=r"Known: 'cauchit', 'logit', 'probit'\."):
        _links()["xyz"]


def test_a_name_cannot_be_registered_twice() -> None:
    links = _links()
    with pytest.raises(ValueError, match="'probit'"):
        links.register("probit")("again")


def test_import_siblings_imports_every_module_of_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "family_of_two"
    folder.mkdir()
    (folder / "__init__.py").write_text("seen = []\n")
    for name in ("one", "two"):
        (folder / f"{name}.py").write_text(f"from family_of_two import seen\nseen.append({name!r})\n")
    monkeypatch.syspath_prepend(tmp_path)
    import_siblings("family_of_two", [str(folder)])
    assert sorted(sys.modules["family_of_two"].seen) == ["one", "two"]
    for name in ("family_of_two", "family_of_two.one", "family_of_two.two"):
        monkeypatch.delitem(sys.modules, name)


@pytest.mark.slow
@pytest.mark.parametrize(
    "place",
    [
        "agreement.coefficient:COEFFICIENTS",
        "scales.base:SCALES",
        "study.sections.design_choice:DESIGNS",
        "power.analyses.base:ANALYSES",
    ],
)
def test_a_registry_is_full_for_the_first_module_that_imports_it(place: str) -> None:
    module, _, name = place.partition(":")
    program = f"from panelist.{module} import {name} as known; print(len(known))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout) >= 5

import pytest

from panelist.core.errors import BadRatings
from panelist.core.tables.columns import LAST_RESORT, SYNONYMS, name_columns, parse_columns, parse_where


@pytest.mark.parametrize(("synonym", "canonical"), sorted((SYNONYMS | LAST_RESORT).items()))
def test_every_synonym_is_taken_in_any_capitals(synonym: str, canonical: str) -> None:
    for name in (synonym, synonym.upper(), f" {synonym.title()} "):
        assert name_columns(["dataset", name]) == {name: canonical}


def test_our_own_names_are_taken_in_any_capitals() -> None:
    assert name_columns(["Rater", "ITEM", "system"]) == {"Rater": "rater", "ITEM": "item"}


def test_our_own_name_wins_over_a_synonym_without_a_word() -> None:
    assert name_columns(["response", "rating", "judge"]) == {"judge": "rater"}
    assert name_columns(["model", "system"]) == {}
    assert name_columns(["Rating", "score"]) == {"Rating": "rating"}
    assert name_columns(["Rating", "rating"]) == {}


@pytest.mark.parametrize("rivals", [("score", "value"), ("Score", "score"), ("Rating", "RATING")])
def test_two_columns_that_compete_for_a_name_are_both_listed(rivals: tuple[str, str]) -> None:
    with pytest.raises(BadRatings) as caught:
        name_columns(["item", *rivals])
    message = str(caught.value)
    assert all(repr(name) in message for name in rivals)
    assert f"--columns rating={rivals[0]}" in message


def test_the_mapping_settles_a_competition() -> None:
    assert name_columns(["score", "value"], {"rating": "value"}) == {"value": "rating"}


def test_a_mapping_goes_before_a_column_that_has_the_name() -> None:
    named = name_columns(["response", "rating"], {"rating": "response"})
    assert named == {"response": "rating", "rating": "rating_original"}


def test_a_mapping_may_swap_two_columns() -> None:
    swap = {"item": "system", "system": "item"}
    assert name_columns(["item", "system"], swap) == {"system": "item", "item": "system"}


def test_a_mapping_may_use_a_synonym_as_its_target() -> None:
    assert name_columns(["WorkerId"], {"participant": "WorkerId"}) == {"WorkerId": "rater"}


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"rater": "WorkerID"}, r"No column is called 'WorkerID'.*Did you mean 'WorkerId'\?"),
        ({"ratr": "WorkerId"}, r"no column 'ratr' to map to\. Did you mean 'rater'"),
        ({"rater": "WorkerId", "judge": "x"}, "Two columns are mapped to rater: 'WorkerId' and 'x'"),
        ({"rater": "x", "item": "x"}, "Column 'x' is mapped to two names"),
    ],
)
def test_a_wrong_mapping_is_explained(columns: dict[str, str], message: str) -> None:
    with pytest.raises(BadRatings, match=message):
        name_columns(["WorkerId", "x"], columns)


def test_columns_are_parsed() -> None:
    assert parse_columns("rater=WorkerId, item = input id,") == {"rater": "WorkerId", "item": "input id"}
    assert parse_columns("rating=Answer.a=b") == {"rating": "Answer.a=b"}
    assert parse_columns(None) == parse_columns("") == {}


@pytest.mark.parametrize("text", ["rater", "rater=", "=x", "rater=a,item"])
def test_columns_without_a_pair_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(BadRatings, match=r"--columns takes pairs NAME=VALUE\. Got .*rater=WorkerId"):
        parse_columns(text)


def test_columns_that_name_one_thing_twice_are_refused() -> None:
    with pytest.raises(BadRatings, match="twice which column is the rater: 'a' and 'b'"):
        parse_columns("rater=a,rater=b")


def test_where_is_parsed_and_a_column_named_twice_takes_either_value() -> None:
    texts = ["setup=setup2", "system=a", "system=b"]
    assert parse_where(texts) == {"setup": ("setup2",), "system": ("a", "b")}
    assert parse_where([]) == {}
    with pytest.raises(BadRatings, match="--where takes pairs NAME=VALUE"):
        parse_where(["setup2"])


@pytest.mark.parametrize("name", ["WorkerId", "worker id", "Worker-ID", "worker.id", "WORKER_ID"])
def test_a_name_is_known_however_its_words_are_joined(name: str) -> None:
    assert name_columns([name]) == {name: "rater"}


@pytest.mark.parametrize(
    ("present", "taken"),
    [
        (["annotator", "annotator_id"], {"annotator_id": "rater"}),
        (["model_id", "model_name", "model"], {"model_name": "system"}),
        (["label", "value"], {"value": "rating"}),
    ],
)
def test_of_two_names_for_one_thing_the_more_telling_is_taken(
    present: list[str], taken: dict[str, str]
) -> None:
    assert name_columns(present) == taken


def test_columns_that_compete_are_kept_for_later_where_asked() -> None:
    unsure: dict[str, tuple[str, ...]] = {}
    assert name_columns(["doc_id", "seg_id", "score"], unsure=unsure) == {"score": "rating"}
    assert unsure == {"item": ("doc_id", "seg_id")}


def test_texts_do_not_compete_for_the_rating() -> None:
    assert name_columns(["response", "score"], texts=["response"]) == {"score": "rating"}
    assert name_columns(["response"], texts=["response"]) == {}


@pytest.mark.parametrize("none", ["none", "None", None])
def test_a_mapping_may_say_that_there_is_none(none: str | None) -> None:
    assert name_columns(["item", "worker"], {"item": none}) == {"item": "item_original", "worker": "rater"}
    assert name_columns(["none", "worker"], {"item": "none"}) == {"none": "item", "worker": "rater"}


def test_a_rank_is_a_choice_within_trials_and_never_a_rating() -> None:
    assert name_columns(["rater", "item", "trial", "system", "rank"]) == {"rank": "choice"}
    assert name_columns(["rater", "item", "system", "rank"]) == {}
    assert name_columns(["rater", "item", "trial", "system", "rank", "rating"]) == {}

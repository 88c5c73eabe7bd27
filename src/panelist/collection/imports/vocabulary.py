"""Words that people use in tables: criteria, texts, measures, and numbers that are not answers."""

import re

from panelist.core.prose import list_words
from panelist.core.tables.columns import CANONICAL, find_role

CRITERIA = list_words(
    "fluen coheren relevan consisten adequa gramma informat natural quality overall engag interest factual "
    "faithful correct readab accura helpful harm toxic creativ empath surpris complex likab likeab humanl "
    "understand complete coverage concis redundan clarity clear logic sensib specific safe fidelity "
    "hallucinat plausib appropriat meaning semantic preserv diversity novel original useful trust satisf "
    "prefer simplicity similar truthful verbos depth style tone content structure humor humour polite valid "
    "importan enjoy cohesi emotion flow attract reason groundedness entail honest"
)
"""How the names of criteria begin."""
NO_RATING = frozenset(
    list_words(
        "id ids idx index no nr num number key uid uuid hash turn round year age time timestamp tstamp date "
        "seconds sec secs duration length len tokens words chars position pos order page batch list seed hit "
        "hitid split fold count version row line session trial occasion group block start end ms latency "
        "temperature size n segment seg sentence paragraph epoch sample samples"
    )
)
"""Parts of names of columns whose numbers are not answers."""
MEASURES = re.compile(
    r"(s?bleu\d?|rouge|meteor|bert_?score|chrf|bleurt|comet|perplexity|ppl|nist|cider|(?<![a-z])ter(?![a-z])|"
    r"mover_?score|qa_?eval|log_?prob|loss|embedding|gpt_?score)",
    re.IGNORECASE,
)
"""Automatic measures: numbers, but not ratings."""
OUTPUTS = frozenset(
    list_words(
        "output outputs response decoded summary generation generated hypothesis hyp translation candidate "
        "completion reply prediction pred mt target"
    )
)
INPUTS = list_words(
    "source src input prompt context document article question query instruction dialogue dialog story "
    "passage headline history sentence premise text mr"
)
RATERS = (
    *("annotator", "rater", "worker", "judge", "evaluator", "coder", "assessor", "reviewer", "grader"),
    *("participant", "expert", "turker", "labeler", "labeller", "scorer", "respondent", "subject", "ann"),
    *("crowdworker", "student", "person", "human", "user"),
)
CODES = frozenset(list_words("id ids idx index no nr num number key code uid uuid hash pseudonym initials"))
RATER_NAMES = frozenset(
    list_words(
        "user username login prolificpid prolificid respondent responseid email name subject labeler "
        "labeller scorer turker crowdworker expert student respondentid raterid usr userid evaluatorid "
        "workerid recipientemail who"
    )
)
SYSTEM_NAMES = frozenset(
    list_words(
        "sys system systems model models method approach condition generator engine modelname systemname "
        "sysid systemid modelid mtsystem nmtsystem setting submission team variant policy checkpoint llm "
        "bot chatbot agent algorithm"
    )
)
ITEM_NAMES = (
    *("item", "itemid", "docid", "doc", "id", "idx", "index", "uid", "qid", "questionid", "promptid", "key"),
    *("instance", "example", "document", "documentid", "segmentid", "segid", "segment", "seg", "sampleid"),
    *("exampleid", "line", "stimulus", "stimulusid", "clip", "clipid", "utterance", "utt", "uttid"),
)
CRITERION_NAMES = frozenset(list_words("aspect dimension criterion criteria metric attribute category"))
ANSWER_NAMES = frozenset(list_words(
    "rating score value response label grade judgment judgement vote answer annotation stars likert points "
    "mark annotations ratings scores labels"))  # fmt: skip


def split_name(name: str) -> list[str]:
    """Return the parts of a column's name in lower case.

    >>> split_name("expert_annotations.Doc ID"), split_name("WorkerId"), split_name("annotator12")
    (['expert', 'annotations', 'doc', 'id'], ['worker', 'id'], ['annotator', '12'])
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])", " ", name)
    return [part.casefold() for part in re.split(r"[\W_]+", spaced) if part]


def squeeze(name: str) -> str:
    """Return only the letters and numbers of a name."""
    return re.sub(r"[\W_]+", "", name).casefold()


def last_part(name: str) -> str:
    """Return the name of a field without those of the fields around it.

    >>> last_part("expert_annotations.annotator")
    'annotator'
    """
    return name.rsplit(".", 1)[-1]


def is_criterion(name: str) -> bool:
    """Return whether a name begins, or has a part that begins, like that of a criterion.

    >>> is_criterion("Q3_fluency"), is_criterion("coherence"), is_criterion("worker_id")
    (True, True, False)
    """
    return any(part.startswith(CRITERIA) for part in split_name(name))


def names_raters(name: str) -> bool:
    """Return whether a name is that of raters.

    >>> names_raters("annotators"), names_raters("meta.worker_ids"), names_raters("tags")
    (True, True, False)
    """
    return any(part.removesuffix("s") in RATERS for part in split_name(last_part(name)))


def is_rater_code(name: str) -> bool:
    """Return whether a name is that of people with a word for a code behind it.

    >>> is_rater_code("subject_nr"), is_rater_code("ParticipantCode"), is_rater_code("subject_age")
    (True, True, False)
    """
    who, *rest = split_name(last_part(name)) or [""]
    return who in RATERS and bool(rest) and set(rest) <= CODES


def is_known_name(name: str) -> bool:
    """Return whether a cell is a word that names columns."""
    plain = squeeze(name)
    if not plain or plain.isdecimal():
        return False
    parts = split_name(name)
    return (
        find_role(name) is not None
        or plain in CANONICAL
        or plain in RATER_NAMES | SYSTEM_NAMES | CRITERION_NAMES | ANSWER_NAMES | OUTPUTS
        or plain in ITEM_NAMES
        or plain in INPUTS
        or (len(parts) == 2 and parts[0] in RATERS and parts[1].isdecimal())
    )

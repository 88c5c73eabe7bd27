"""``panelist judges prompts`` and ``panelist judges read``: the rating page as prompts, and answers back."""

from pathlib import Path
from typing import Annotated

from panelist.cli.options import Json, argument, option
from panelist.cli.terminal import say, show, tell


def judges_prompts(
    study: Annotated[Path, argument("STUDY", "The study file, or its folder.")],
    output: Annotated[Path, option("FILE.jsonl", "Where the requests go.", "--output", "-o")] = Path(
        "prompts.jsonl"
    ),
    samples: Annotated[int, option("N", "How often each page is asked about.")] = 1,
    seed: Annotated[
        int | None, option("N", "The seed of the order of the prompts. Default: the seed of the design.")
    ] = None,
    json: Json = False,
) -> None:
    """Write the rating pages as prompts for a language model, one per line."""
    from panelist.judges.instrument.prompts import make_prompts, write_prompts
    from panelist.study.reading.load import load_study

    found = make_prompts(load_study(study), samples, seed)
    requests, key = write_prompts(found, output)
    show(found, json)
    (tell if json else say)(
        f"Requests written to {requests}; keep {key} to yourself: it says which is which."
    )


def judges_read(
    answers: Annotated[
        Path, argument("ANSWERS", 'One answer per line: {"id": …, "answer": …}, or batch results.')
    ],
    output: Annotated[Path, option("FILE", "Where the judges table goes.", "--output", "-o")] = Path(
        "judges.csv"
    ),
    key: Annotated[Path, option("FILE", "What judges prompts wrote beside the requests.")] = Path(
        "prompts.key.csv"
    ),
    judge: Annotated[
        str, option("NAME", "The name of the judge. Default: the model named in the answers.")
    ] = "",
    json: Json = False,
) -> None:
    """Read a model's answers to these prompts into a judges table."""
    from panelist.core.tables.readers import find_ending
    from panelist.core.tables.writers import write_table
    from panelist.judges.instrument.answers_file import read_answers

    find_ending(output)  # before the work, not after it
    found = read_answers(answers, key, judge)
    name, _, ending = output.name.partition(".")
    show(found, json)
    for kind, table in found.tables.items():
        apart = kind == "pairs" and len(found.tables) > 1
        path = output.with_name(f"{name}.pairs.{ending}") if apart else output
        write_table(table, path)
        (tell if json else say)(f"Written to {path}. Next: panelist judges worth RATINGS {path}")

"""Options that several commands share: one word, one help text."""

from pathlib import Path
from typing import Annotated

import typer

RatingsFile = Annotated[
    Path,
    typer.Argument(
        metavar="RATINGS", help="The ratings table: CSV, TSV, JSONL, Parquet or Excel.", show_default=False
    ),
]
Model = Annotated[
    str,
    typer.Option(
        metavar="auto|clmm|clm|lmm|lm",
        help="Ordinal (clm) or linear (lm), with a last m for random effects; auto looks at the ratings.",
    ),
]
Link = Annotated[
    str,
    typer.Option(metavar="probit|logit|cloglog|loglog|cauchit", help="The link of an ordinal model."),
]
Df = Annotated[
    str,
    typer.Option(
        metavar="t|z",
        help="How an ordinal mixed model is tested: t allows for few raters and items, z does not.",
    ),
]
Where = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL=VALUE",
        help="Use these rows only; may be given again. One column given twice takes either value.",
        show_default=False,
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        metavar="NAME=COL,…",
        help="Which column is what, where the names do not say: rater=WorkerId,item=input_id.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]

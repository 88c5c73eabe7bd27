"""``panelist power paper``: the power study of Howcroft & Rieser (2021), again."""

from pathlib import Path

from panelist.cli.options import Json
from panelist.cli.power import options as given
from panelist.cli.power.power import check_files, write_files
from panelist.cli.power.progress import show_power_progress
from panelist.cli.terminal import show, tell


def power_paper(
    out: given.Out = Path("howcroft-rieser"),
    as_released: given.AsReleased = False,
    sims: given.PaperSims = 100,
    seed: given.Seed = 1,
    engine: given.Engine = "local",
    workers: given.Workers = None,
    figure: given.Figure = None,
    table: given.TableFile = None,
    json: Json = False,
) -> None:
    """Run the whole grid of Howcroft & Rieser (2021), with its figures and its table."""
    from panelist.core.errors import BadFile
    from panelist.power.paper import simulate_paper
    from panelist.power.run import Run
    from panelist.reports.figures.power_figures import write_paper

    check_files(figure, table)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadFile(
            f"The folder {str(out)!r} cannot be made: {error.strerror}. Name another with --output."
        ) from None
    with show_power_progress() as report:
        run = Run(sims, None, seed, engine, workers, out / "journal.jsonl", report)
        found = simulate_paper(run, as_released=as_released)
    names = write_paper(found, out)
    tell(f"Written to {out}: {', '.join(names)}.")
    write_files(found, figure, table)
    show(found, json)

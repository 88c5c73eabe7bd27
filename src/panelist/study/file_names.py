"""The names of the files in the folder of a study."""

from pathlib import Path

STUDY_FILE = "study.yaml"
PLAN_TABLE, PLAN_RECORD = "plan.csv", "plan.json"
SAMPLE_FILE = "sample.csv"
DATABASE_FILE, RATINGS_FILE = "study.db", "ratings.csv"
POWER_FILE = "power.json"
JUDGES_FILE = "judges.csv"
STUDY_ENDINGS = {".yaml", ".yml"}


def is_study(path: Path) -> bool:
    """Return whether a path means a study: a folder, or a file of YAML."""
    return path.is_dir() or path.suffix.casefold() in STUDY_ENDINGS

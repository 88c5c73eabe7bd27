"""The demo's ratings as a file, for every test of a command."""

from pathlib import Path

import pytest

from tests.simulated import simulate_demo


@pytest.fixture(scope="session")
def ratings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo") / "ratings.csv"
    simulate_demo().to_csv(path, index=False)
    return path

"""The sounds of the template are those that the script makes."""

import wave
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from docs.speech_sounds import main


@pytest.mark.slow
def test_the_script_makes_the_sounds_of_the_template(tmp_path: Path) -> None:
    main(str(tmp_path))
    shipped = Path(str(files("panelist.study") / "templates" / "speech" / "sounds"))
    names = {path.name for path in shipped.glob("*.wav")}
    assert names == {path.name for path in tmp_path.iterdir()}
    for name in names:
        made, ours = (_read(folder / name) for folder in (tmp_path, shipped))
        assert len(made) == len(ours)
        assert np.abs(made - ours).max() <= 1  # rounding may differ on another processor


def _read(path: Path) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    with wave.open(str(path)) as file:
        return np.frombuffer(file.readframes(file.getnframes()), dtype=np.uint8).astype(np.int64)

"""Compiling separately: in other processes, once, while runs come and go."""

import threading
import time

import pytest

from panelist.numerics import compile_ahead as models
from panelist.numerics.compile_ahead import CompiledPart
from panelist.web.planner.runs import Compiling
from tests.patience import PATIENCE


def wait(apart: Compiling, model: str) -> None:
    until = time.monotonic() + PATIENCE
    while not apart.is_over(model) and time.monotonic() < until:
        time.sleep(0.01)
    assert apart.is_over(model)


def test_what_compiles_nothing_is_ready() -> None:
    wait(Compiling(), "item_means")


def test_a_model_that_was_never_compiled_is_left_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    done, asked = threading.Event(), list[list[str]]()

    def compile_parts(parts: list[CompiledPart], nice: int) -> None:
        asked.append([part.name for part in parts])
        done.wait(PATIENCE)

    monkeypatch.setattr(models, "is_compiled", lambda kernel: False)
    monkeypatch.setattr(models, "compile_apart", compile_parts)
    apart = Compiling()
    assert not apart.is_over("clmm")
    done.set()
    wait(apart, "clmm")
    assert asked == [["ordinal", "errors", "linear"]]  # once tried, the next fit may compile here

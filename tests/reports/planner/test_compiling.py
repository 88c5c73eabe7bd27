"""Compiling apart: a process of its own, once, while runs come and go."""

import sys
import time

import pytest

from panelist.reports.planner import compiling
from panelist.reports.planner.compiling import Compiling, find_kernel, must_compile


def test_what_compiles_nothing_is_ready() -> None:
    assert find_kernel("item_means") is None
    assert not must_compile("item_means")
    assert Compiling().is_over("item_means")


def test_a_model_that_was_never_compiled_is_left_to_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "must_compile", lambda model: True)
    monkeypatch.setattr(sys, "executable", "/bin/true")
    apart = Compiling()
    assert not apart.is_over("clmm")
    until = time.monotonic() + 20
    while not apart.is_over("clmm") and time.monotonic() < until:
        time.sleep(0.01)
    assert apart.is_over("clmm")  # once tried, the next fit may compile here

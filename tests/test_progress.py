"""The progress bar shows only where somebody watches, and only after a while."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import pytest

from ropewalk import progress

if TYPE_CHECKING:
    from collections.abc import Iterator


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    yield screen


def test_quick_work_shows_no_bar(terminal: Terminal) -> None:
    assert list(progress.track(range(5), "counting")) == [0, 1, 2, 3, 4]
    assert terminal.getvalue() == ""


def test_long_work_shows_a_bar(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    assert list(progress.track(range(5), "counting", total=5)) == [0, 1, 2, 3, 4]
    assert "counting" in terminal.getvalue()


def test_there_is_no_bar_off_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    assert list(progress.track(range(5), "counting")) == [0, 1, 2, 3, 4]
    assert screen.getvalue() == ""

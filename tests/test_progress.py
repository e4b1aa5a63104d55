"""The progress bar shows only where somebody watches, and only after a while."""

from __future__ import annotations

import io
import sys

import pytest

from ropewalk.reporting import progress


class Screen(io.StringIO):
    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


@pytest.mark.parametrize(
    ("terminal", "patience", "shown"), [(True, 0.0, True), (True, 60.0, False), (False, 0.0, False)]
)
def test_a_bar_shows_on_a_terminal_after_a_while(
    monkeypatch: pytest.MonkeyPatch, *, terminal: bool, patience: float, shown: bool
) -> None:
    screen = Screen(terminal=terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress, "PATIENCE", patience)
    assert list(progress.track(range(5), "counting", total=5)) == [0, 1, 2, 3, 4]
    assert ("counting" in screen.getvalue()) == shown
    assert bool(screen.getvalue()) == shown

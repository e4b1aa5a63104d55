"""A progress bar on standard error, on terminals only, for work that takes more than a second."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, TypeVar

from ropewalk.reporting.escaping import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rich.progress import Progress

Item = TypeVar("Item")

PATIENCE = 1.0  # seconds before a bar appears


def track(
    items: Iterable[Item],
    what: str,
    *,
    total: float | None = None,
    size: Callable[[Item], float] = lambda _: 1.0,
) -> Iterator[Item]:
    """Yield `items`; after a second, show a progress bar named `what` on a terminal.

    `size` returns the part of `total` that an item contributes. Without `total`, the bar shows no fraction.
    """
    if not sys.stderr.isatty():
        yield from items
        return
    begun = time.monotonic()
    done = 0.0
    bar: Progress | None = None
    with ExitStack() as stack:
        for item in items:
            yield item
            done += size(item)
            if bar is None and time.monotonic() - begun >= PATIENCE:
                bar = stack.enter_context(progress_bar())
                bar.add_task(clean(what), total=total)
            if bar is not None:
                bar.update(bar.task_ids[0], completed=done)


def progress_bar() -> Progress:
    """Return a progress bar on standard error that disappears when it is finished."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)

"""Settings for all tests, and what several of them share."""

from __future__ import annotations

import os
import signal
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from program_tools import end_all

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Path(__file__).parent.parent

settings.register_profile("compiled", deadline=None, max_examples=60)  # `make fuzz` tries more
settings.register_profile("pure", deadline=None, max_examples=20)  # plain Python kernels are slow
settings.load_profile("pure" if os.environ.get("ROPEWALK_PURE") else "compiled")
FEW = settings(max_examples=20)  # where each is slow, or each encoding has its own


@pytest.fixture(scope="session", autouse=True)
def hearing() -> Iterator[None]:
    """Let programs hear signals: those that a shell starts in the background, or by nohup, pass on that they do not."""
    deaf = [name for name in ("SIGINT", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in (getattr(signal, name) for name in deaf)}
    for number, handler in before.items():
        if handler is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(scope="session", autouse=True)
def programs() -> Iterator[None]:
    """End the processes that ran commands."""
    yield
    end_all()


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Let torch compute in one thread."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def repository() -> Path:
    """The folder of the repository."""
    return REPOSITORY


@pytest.fixture(scope="session")
def sample(repository: Path) -> Path:
    """The example treebank: several languages, multiword tokens, an empty node, crossing arcs."""
    return repository / "examples" / "sample.conllu"


@pytest.fixture(scope="session")
def treebanks() -> Path:
    """The folder of treebanks; tests that ask for it are marked `treebanks`."""
    folder = os.environ.get("ROPEWALK_UD")
    if not folder:
        pytest.skip("ROPEWALK_UD names no folder of treebanks")
    path = Path(folder)
    assert any(path.rglob("*.conllu")), f"{path} holds no .conllu file"
    return path


@pytest.fixture(scope="session")
def releases(treebanks: Path) -> dict[str, Path]:
    """The folders of treebanks by release: `treebanks` is 2.14, and the names of others end in theirs."""
    more = os.environ.get("ROPEWALK_UD_MORE")
    if not more:
        pytest.skip("ROPEWALK_UD_MORE names no folders of other releases")
    folders = {"2.14": treebanks}
    for path in map(Path, more.split(os.pathsep)):
        assert any(path.rglob("*.conllu")), f"{path} holds no .conllu file"
        folders[path.resolve().name[-4:]] = path
    return folders


def all_heads(longest: int) -> Iterator[list[int]]:
    """Every list of heads in range, tree or not, of up to `longest` words."""
    for words in range(longest + 1):
        for heads in product(range(words + 1), repeat=words):
            yield list(heads)

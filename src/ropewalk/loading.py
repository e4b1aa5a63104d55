"""Loading of models by name or folder: exported models for ONNX Runtime, and trained models for torch."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol, TypeVar, final

from ropewalk.errors import MissingExtraError
from ropewalk.models.catalogue import locate
from ropewalk.models.description import TRAINED
from ropewalk.models.storage import ModelFolder, open_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ropewalk.models.model import Model
    from ropewalk.treebank.treebank import Treebank

Item = TypeVar("Item")

AUTOMATIC = "auto"  # the name that chooses among the installed models by the language of each text
HUB = "hub:"  # before the name of a model on the Hugging Face hub
NEEDED = ("torch", "safetensors", "transformers")  # packages that trained models need


class AnyModel(Protocol):
    """Protocol for models: parse a treebank."""

    def parse(self, bank: Treebank, /) -> Treebank:
        """Return the treebank with trees, and with tags if the model predicts them."""
        ...


class NamedModel(AnyModel, Protocol):
    """Protocol for models with a name and a hash of their files."""

    name: str
    hash: str


class AnySegmenter(Protocol):
    """Protocol for segmenters: split text into sentences and words."""

    def segment_many(self, texts: Sequence[str], /) -> tuple[Treebank, list[int]]:
        """Return one treebank with the sentences of all texts, and the number of sentences of each text.

        No character of the texts is lost.
        """
        ...

    def stream(self, pieces: Iterable[str], /) -> Iterator[Treebank]:
        """Yield treebanks of the sentences of one long text; `pieces` are its consecutive parts.

        The memory that it uses does not grow with the length of the text.
        """
        ...


@final
class LoadedOnDemand(Mapping[str, Item]):
    """Models or parsers by name, each loaded with `load(name)` when it is first needed; threads may share this object.

    At most `most` are in memory; the least recently used one is dropped first. A thread that still uses a dropped one
    keeps it until it is done.
    """

    def __init__(self, names: Iterable[str], load: Callable[[str], Item], most: int) -> None:
        self._names = dict.fromkeys(names)
        self._load = load
        self._most = most
        self._lock = threading.Lock()
        self._loaded: OrderedDict[str, Item] = OrderedDict()

    def __getitem__(self, name: str) -> Item:
        if name not in self._names:
            raise KeyError(name)
        with self._lock:
            if name not in self._loaded:
                while len(self._loaded) >= self._most:  # before loading, so that no more are in memory
                    self._loaded.popitem(last=False)
                self._loaded[name] = self._load(name)
            self._loaded.move_to_end(name)
            return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    @property
    def loaded(self) -> tuple[str, ...]:
        """The names of what is in memory, the least recently used first."""
        with self._lock:
            return tuple(self._loaded)


def open_model(name: str | os.PathLike[str]) -> ModelFolder:
    """Open the folder of a model. `name` is an installed model, a path, or `hub:USER/MODEL` on the Hugging Face hub."""
    text = os.fspath(name)
    if not text.startswith(HUB):
        return open_folder(locate(name))
    if find_spec("huggingface_hub") is None:
        raise MissingExtraError(f"{text} and other models on the hub", "huggingface_hub", "train")
    from ropewalk.training.hub import download

    return open_folder(download(text.removeprefix(HUB)))


def load_model(name: str | os.PathLike[str], *, threads: int = 0) -> Model:
    """Load a model. `name` is what `open_model` accepts, or the folder that it returned.

    Models that were trained and not exported need torch; raise `MissingExtraError` if one of their packages is missing.
    """
    folder = name if isinstance(name, ModelFolder) else open_model(name)
    if folder.format != TRAINED:
        from ropewalk.models.onnx.model import load as load_exported

        return load_exported(folder, threads)
    for package in NEEDED:
        if find_spec(package) is None:
            what = f"{os.fspath(name)} and other models that were trained and not exported"
            raise MissingExtraError(what, package, "train")
    from ropewalk.training.trainable import load as load_trained

    return load_trained(folder, threads)

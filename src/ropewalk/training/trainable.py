"""A network with its description and label sets: what is trained, written as a folder, read again and used."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ropewalk.errors import ModelError, RopewalkError
from ropewalk.models.catalogue import locate
from ropewalk.models.description import EXPORTED, TRAINED, Description
from ropewalk.models.model import Model
from ropewalk.models.scorer import Scorer
from ropewalk.models.storage import CONFIG, LABELS, open_folder, read_content, short_hash
from ropewalk.training import exported_weights, trained_files
from ropewalk.training.classifiers import make_orthogonal
from ropewalk.training.construction import graph_shape, head_shape, is_own, loss_options, new_encoder, stored_encoder
from ropewalk.training.graph_training import graph_outputs
from ropewalk.training.network import LossOptions, Network
from ropewalk.training.torch_scorer import TorchEncoder, TorchHeads

if TYPE_CHECKING:
    import os

    import numpy.typing as npt

    from ropewalk.models.description import DecodingOptions
    from ropewalk.models.labels import LabelSet
    from ropewalk.models.storage import ModelFolder
    from ropewalk.training.config import Config


@dataclass(frozen=True, slots=True, eq=False)
class Trainable:
    """A network, what it is, and the names behind its numbers."""

    description: Description
    labels: LabelSet
    network: Network

    @classmethod
    def create(cls, config: Config, labels: LabelSet, vectors: npt.NDArray[np.float32] | None = None) -> Trainable:
        """Make an untrained network, on a pretrained encoder if the configuration names one."""
        torch.manual_seed(config.seed)
        encoder = new_encoder(config.model.encoder, labels, vectors)
        return cls._on(encoder, config, labels)

    @classmethod
    def on_top_of(cls, path: str | os.PathLike[str], config: Config, labels: LabelSet) -> Trainable:
        """Make a network for other data that begins with what a trained model, by its name or folder, has learnt.

        The encoder is taken as it is, and of the heads whatever deals with labels, relations or tags of the same name.
        """
        base = cls.load(locate(path), config)
        torch.manual_seed(config.seed)
        out = cls._on(base.network.encoder, config, replace(labels, vocabulary=base.labels.vocabulary))
        _inherit(out, base)
        return out

    @classmethod
    def _on(cls, encoder: Any, config: Config, labels: LabelSet) -> Trainable:  # noqa: ANN401 - a `WordEncoder`
        shape = head_shape(config.model)
        graphs = graph_shape(config.model)
        network = Network(shape, graphs, labels, encoder, loss_options(config.model))
        if config.model.init == "orthogonal":
            make_orthogonal(network)
        description = Description("", encoder.shape, shape, config.decoding, network.distances, graphs)
        return cls(description, labels, network)

    @classmethod
    def load(cls, path: str | os.PathLike[str], further: Config | None = None) -> Trainable:
        """Read a folder that training wrote; with a configuration its encoder is ready to be trained `further`.

        The latter may also be one that was exported, if it has a `bilstm`.
        """
        home = open_folder(path, *((TRAINED,) if further is None else (TRAINED, EXPORTED)))
        labels = home.labels(read_content(home.path / LABELS))
        with torch.device("meta" if is_own(home.description.encoder) else "cpu"):  # which takes no memory
            outline = _built(home, labels, further)
        weights = (
            trained_files.read_tensors(home.path / trained_files.WEIGHTS)
            if home.format == TRAINED
            else exported_weights.read_weights(home, outline)
        )
        trained_files.demand_fit(outline, weights, home.path)
        network = _built(home, labels, further)
        network.load_state_dict(dict(weights))
        network.eval()
        return cls(replace(home.description, distances=network.distances), labels, network)

    def with_decoding(self, decoding: DecodingOptions) -> Trainable:
        """Take other options of decoding."""
        return replace(self, description=replace(self.description, decoding=decoding))

    def model(self) -> Model:
        """Use the network as it is now."""
        found = self.description
        distances, graph_distances = (
            np.array(bounds, dtype=np.int64) for bounds in (found.distances, found.graphs.distances)
        )
        heads = TorchHeads(self.network)
        return Model(found, self.labels, Scorer(TorchEncoder(self.network), heads, distances, graph_distances))


def _built(home: ModelFolder, labels: LabelSet, further: Config | None) -> Network:
    """Build the network that a folder describes, with weights at random."""
    options = LossOptions() if further is None else loss_options(further.model)
    heads, graphs = home.description.heads, home.description.graphs
    try:
        encoder = stored_encoder(home, labels, None if further is None else further.model.encoder)
        return Network(heads, graphs, labels, encoder, replace(options, loss="words"))
    except RopewalkError:
        raise
    except Exception as failure:
        reason = str(failure).partition("\n")[0]
        raise ModelError(
            str(home.path / CONFIG),
            f"describes a network that cannot be built ({reason}); copy or train the model again",
        ) from failure


def load(path: str | os.PathLike[str], threads: int = 0, device: str = "cpu") -> Model:
    """Load a model from a folder that training wrote; of `threads`, 0 is torch's own choice."""
    if threads:
        torch.set_num_threads(threads)
    folder = open_folder(path, TRAINED)
    found = Trainable.load(folder)
    found.network.to(device)
    plain = found.model()
    contents = (read_content(folder.path / name) for name in (trained_files.WEIGHTS, LABELS))
    return Model(
        plain.description,
        plain.labels,
        plain.scorer,
        name=folder.name,
        hash=short_hash(*contents),
        origin=(load, folder.path, threads),
    )


def devices(chosen: str) -> tuple[str, ...]:
    """Return the device that a run trains on by the option `training.device`, and the CPU if it is another."""
    return ("cuda", "cpu") if chosen == "auto" and torch.cuda.is_available() else ("cpu",)


def device_name(device: str) -> str:
    """Name a device for people: its kind, and which GPU it is or how many threads there are."""
    if device == "cuda":
        return f"{device}, {torch.cuda.get_device_name()}"
    threads = torch.get_num_threads()
    return f"{device}, {threads} thread{'s' if threads > 1 else ''}"


def _named_outputs(one: Trainable) -> dict[str, tuple[str, ...]]:
    """Name the texts behind the rows of each last layer, by the module that holds it."""
    labels, heads = one.labels, one.description.heads
    columns = [texts for columns in labels.columns for texts in columns]
    last, last_of_relations = (4 if hidden else 1 for hidden in (heads.hidden, heads.relation_size))
    named = ("relations.out.", f"relations.layers.{last_of_relations}.", "relations.products")
    return {
        **{f"columns.{number}.layers.{last}.": texts for number, texts in enumerate(columns)},
        **{f"tags.{number}.layers.{last}.": texts for number, (_, texts) in enumerate(labels.tags)},
        **dict.fromkeys(named, labels.relations),
        **({} if labels.graphs is None else graph_outputs(labels.graphs, last)),
    }


def _inherit(new: Trainable, base: Trainable) -> None:
    """Copy what two networks have in common: rows of last layers by the texts they stand for, the rest by name."""
    ours, theirs = new.network.state_dict(), base.network.state_dict()
    own, other = _named_outputs(new), _named_outputs(base)
    for name, tensor in ours.items():
        given = theirs.get(name)
        if given is None or given.shape[1:] != tensor.shape[1:] or name.startswith("encoder."):
            continue
        last = next((start for start in own if name.startswith(start)), "")
        if last:
            places = {text: place for place, text in enumerate(other.get(last, ()))}
            for row, text in enumerate(own[last]):
                if text in places:
                    tensor[row] = given[places[text]]
        elif given.shape == tensor.shape and not name.startswith(tuple(other)):
            tensor.copy_(given)
    new.network.load_state_dict(ours)

"""A network with its description and label set: it can be trained, written as a folder, read and used."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

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
from ropewalk.training.torch_scorer import TorchClassifiers, TorchEncoder

if TYPE_CHECKING:
    import os

    import numpy as np
    import numpy.typing as npt

    from ropewalk.models.description import DecodingOptions
    from ropewalk.models.label_sets import LabelSet
    from ropewalk.models.storage import ModelFolder
    from ropewalk.training.config import Config


@dataclass(frozen=True, slots=True, eq=False)
class Trainable:
    """A network, its description, and the label set: the names of its classes."""

    description: Description
    labels: LabelSet
    network: Network

    @classmethod
    def create(cls, config: Config, labels: LabelSet, vectors: npt.NDArray[np.float32] | None = None) -> Trainable:
        """Build an untrained network for the classes in `labels`; its encoder is pretrained if it is a transformer.

        `vectors` are the static word vectors of a `bilstm` or an `sru`.
        """
        torch.manual_seed(config.seed)
        encoder = new_encoder(config.model.encoder, labels, vectors, config.data.styles)
        return cls._on(encoder, config, labels)

    @classmethod
    def on_top_of(cls, path: str | os.PathLike[str], config: Config, labels: LabelSet) -> Trainable:
        """Build a network for other data that starts from the trained model with the name or folder `path`.

        It keeps the encoder. Its classifiers keep the weights of labels, relations and tags that both models have.
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
        return cls(Description("", encoder.shape, shape, config.decoding, graphs), labels, network)

    @classmethod
    def load(cls, path: str | os.PathLike[str], further: Config | None = None) -> Trainable:
        """Read a folder that training wrote; raise `ModelError` if it is damaged.

        With `further`, the configuration of another training run, the encoder can be trained further. The folder may
        then also be an exported one with a `bilstm` or an `sru`.
        """
        home = open_folder(path, *((TRAINED,) if further is None else (TRAINED, EXPORTED)))
        exported = home.format == EXPORTED
        labels = home.listed_labels() if exported else home.labels(read_content(home.path / LABELS))
        with torch.device("meta" if is_own(home.description.encoder) else "cpu"):  # meta tensors take no memory
            outline = _built(home, labels, further)
        weights = (
            exported_weights.read_weights(home, outline)
            if exported
            else trained_files.read_tensors(home.path / trained_files.WEIGHTS)
        )
        trained_files.demand_fit(outline, weights, home.path)
        network = _built(home, labels, further)
        network.load_state_dict(dict(weights))
        network.eval()
        heads = replace(home.description.heads, distances=network.distances)  # version 1 did not store them
        return cls(replace(home.description, heads=heads), labels, network)

    def with_decoding(self, decoding: DecodingOptions) -> Trainable:
        """Return the same network with other decoding options in its description."""
        return replace(self, description=replace(self.description, decoding=decoding))

    def model(self, **about: Any) -> Model:  # noqa: ANN401 - the keywords of `Model`
        """Return a model that parses with the current weights of the network; `about` are keywords of `Model`."""
        scorer = Scorer.of(self.description, TorchEncoder(self.network), TorchClassifiers(self.network))
        return Model(self.description, self.labels, scorer, **about)


def _built(home: ModelFolder, labels: LabelSet, further: Config | None) -> Network:
    """Build the network that a folder describes, with random weights; raise `ModelError` if this is impossible.

    With `further`, it has the dropout and loss weights of that configuration.
    """
    options = LossOptions() if further is None else loss_options(further.model)
    heads, graphs = home.description.heads, home.description.graphs
    try:
        encoder = stored_encoder(home, labels, None if further is None else further.model.encoder)
        return Network(heads, graphs, labels, encoder, replace(options, loss="words"))
    except RopewalkError:
        raise
    except Exception as failure:
        reason = str(failure).partition("\n")[0]
        problem = f"describes a network that cannot be built ({reason}); copy or train the model again"
        raise ModelError(str(home.path / CONFIG), problem) from failure


def load(path: str | os.PathLike[str], threads: int = 0, device: str = "cpu") -> Model:
    """Load a model from a folder that training wrote.

    `threads` is torch's number of threads; if it is 0, torch chooses.
    """
    if threads:
        torch.set_num_threads(threads)
    folder = open_folder(path, TRAINED)
    trainable = Trainable.load(folder)
    trainable.network.to(device)
    contents = (read_content(folder.path / name) for name in (trained_files.WEIGHTS, LABELS))
    return trainable.model(name=folder.name, hash=short_hash(*contents), origin=(load, folder.path, threads))


def devices(chosen: str) -> tuple[str, ...]:
    """Return the devices to use: the GPU, if `chosen` is `auto` and there is one, then the CPU.

    `chosen` is the value of the option `training.device`.
    """
    return ("cuda", "cpu") if chosen == "auto" and torch.cuda.is_available() else ("cpu",)


def device_name(device: str) -> str:
    """Return a device's name to show to users: its kind, and the GPU's name or the number of threads."""
    if device == "cuda":
        return f"{device}, {torch.cuda.get_device_name()}"
    threads = torch.get_num_threads()
    return f"{device}, {threads} thread{'s' if threads > 1 else ''}"


def _named_outputs(trainable: Trainable) -> dict[str, tuple[str, ...]]:
    """Return the class names of the rows of each classifier's last layer, by the prefix of its weights' names."""
    labels, heads = trainable.labels, trainable.description.heads
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
    """Copy weights of `base` outside the encoder into `new`.

    In last layers, copy the rows of classes that both have. Copy other weights if name and shape are the same.
    """
    ours, theirs = new.network.state_dict(), base.network.state_dict()
    own, other = _named_outputs(new), _named_outputs(base)
    for name, tensor in ours.items():
        source = theirs.get(name)
        if source is None or source.shape[1:] != tensor.shape[1:] or name.startswith("encoder."):
            continue
        last = next((start for start in own if name.startswith(start)), "")
        if last:
            rows = {text: row for row, text in enumerate(other.get(last, ()))}
            for row, text in enumerate(own[last]):
                if text in rows:
                    tensor[row] = source[rows[text]]
        elif source.shape == tensor.shape and not name.startswith(tuple(other)):
            tensor.copy_(source)
    new.network.load_state_dict(ours)

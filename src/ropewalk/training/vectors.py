"""Static word vectors out of a pretrained encoder: what it makes of each word alone, in few dimensions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch

from ropewalk import files
from ropewalk.errors import OptionError
from ropewalk.models.batching import alike
from ropewalk.models.labels import LabelSet
from ropewalk.models.storage import LABELS
from ropewalk.reporting.progress import track
from ropewalk.training.config import EncoderOptions
from ropewalk.training.construction import demand_transformer, new_encoder
from ropewalk.training.trainable import Trainable

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from ropewalk.training.encoders import Transformer

BUDGET = 4096  # subwords at a time
Vectors = npt.NDArray[np.float32]


def load_encoder(name: str) -> Transformer:
    """Load a pretrained encoder, or the one in the folder of a trained model."""
    if (Path(name) / LABELS).is_file():
        found = Trainable.load(name).network.encoder
    else:
        found = new_encoder(EncoderOptions(name=name, casing="no"), LabelSet((), (), ()), None)
    encoder = demand_transformer(found, name)
    encoder.pooling = "mean"
    return encoder


def vocabulary(encoder: Transformer, more: Iterable[str] = ()) -> list[str]:
    """List an encoder's whole words and more, each once, in lower case if it ignores case."""
    tokenizer = encoder.tokenizer
    found: dict[str, None] = {}
    for text in more:
        found.setdefault(text.lower() if encoder.tokens.lowercases else text)
    for number in range(len(tokenizer)):
        text = str(tokenizer.decode([number])).strip()
        ids = tokenizer([text], is_split_into_words=True, add_special_tokens=False)["input_ids"] if text else []
        if list(ids) == [number] and not any(character.isspace() for character in text):
            found.setdefault(text)
    return list(found)


def static_vectors(encoder: Transformer, words: Sequence[str], size: int) -> Vectors:
    """Read each word alone, take the mean of its subwords over all layers, and keep the `size` main directions."""
    inputs = encoder.prepare([[word] for word in words])
    rows = np.zeros((len(words), encoder.size), dtype=np.float32)
    encoder.eval()
    batches = alike([one.size for one in inputs], int, BUDGET)  # a single word would mostly be padding otherwise
    with torch.inference_mode():
        for width, chosen in track(batches, "reading words", total=len(batches)):
            rows[chosen] = encoder.layers(encoder.collate([inputs[word] for word in chosen], width)).numpy()
    if size > min(rows.shape):
        raise OptionError(f"{size} dimensions of {len(words)} words and vectors of {encoder.size}; expected fewer")
    rows -= rows.mean(axis=0)
    _, directions = np.linalg.eigh(rows.T @ rows)
    narrow: Vectors = (rows @ directions[:, ::-1][:, :size]).astype(np.float32)
    narrow /= narrow.std()
    return narrow


def write_vectors(path: str | os.PathLike[str], words: Sequence[str], vectors: Vectors) -> None:
    """Write how many words and numbers there are, then a word and its numbers on each line, as `read_vectors` reads."""
    with files.creating(path) as file:
        file.write(f"{len(words)} {vectors.shape[1]}\n".encode())
        for word, row in zip(words, vectors.tolist(), strict=True):
            file.write((" ".join([word, *(f"{value:.4g}" for value in row)]) + "\n").encode("utf-8"))

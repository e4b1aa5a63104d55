"""Static word vectors from a pretrained encoder: its vectors of words without context, in fewer dimensions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch

from ropewalk import files
from ropewalk.errors import ModelError, OptionError
from ropewalk.models.catalogue import locate
from ropewalk.models.label_sets import LabelSet
from ropewalk.models.sentence_batches import alike
from ropewalk.models.storage import LABELS, open_folder
from ropewalk.reporting.progress import track
from ropewalk.training.config import Config, EncoderOptions
from ropewalk.training.construction import demand_transformer, new_encoder
from ropewalk.training.trainable import Trainable

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from ropewalk.training.encoders import Transformer

BUDGET = 4096  # subwords at a time
Vectors = npt.NDArray[np.float32]


def load_encoder(name: str) -> Transformer:
    """Load a pretrained transformer, or that of a trained model, from the hub or a folder; pool subwords by their mean.

    Raise `OptionError` if the encoder is no transformer.
    """
    if (Path(name) / LABELS).is_file():
        loaded = Trainable.load(name).network.encoder
    else:
        loaded = new_encoder(EncoderOptions(name=name, casing="no"), LabelSet((), (), ()), None)
    encoder = demand_transformer(loaded, name)
    encoder.pooling = "mean"
    return encoder


def stored_vectors(name: str, size: int) -> tuple[list[str], Vectors] | None:
    """Return the words and static vectors that a `bilstm` or an `sru` model holds: the first `size` dimensions.

    `name` is the model's name or folder. Return None if it is none, or has no vectors. Raise `OptionError` if its
    vectors are smaller.
    """
    try:
        home = open_folder(locate(name))
    except ModelError:
        return None
    if not home.description.encoder.vector_size:
        return None
    loaded = Trainable.load(home.path, Config())
    table = loaded.network.encoder.get_parameter("vectors.weight").detach().numpy()[1:]
    if size > table.shape[1]:
        raise OptionError(f"{size} dimensions of vectors of {table.shape[1]}; pass a smaller number")
    assert loaded.labels.vocabulary is not None  # noqa: S101 - an encoder with vectors has one
    return list(loaded.labels.vocabulary.vectors), table[:, :size]


def vocabulary(encoder: Transformer, more: Iterable[str] = ()) -> list[str]:
    """Return the words in `more`, then all tokens in the encoder's vocabulary that are whole words, each once.

    Words in `more` are converted to lower case if the encoder ignores case.
    """
    tokenizer = encoder.tokenizer
    words: dict[str, None] = {}
    for text in more:
        words.setdefault(text.lower() if encoder.tokens.lowercases else text)
    for number in range(len(tokenizer)):
        text = str(tokenizer.decode([number])).strip()
        ids = tokenizer([text], is_split_into_words=True, add_special_tokens=False)["input_ids"] if text else []
        if list(ids) == [number] and not any(character.isspace() for character in text):
            words.setdefault(text)
    return list(words)


def static_vectors(encoder: Transformer, words: Sequence[str], size: int) -> Vectors:
    """Return a static vector for each word, reduced to `size` principal components: [words, size].

    Before the reduction, it is the encoder's vector of the word without context, a mean over subwords and layers. Raise
    `OptionError` if `size` is above the number of words or the encoder's size.
    """
    inputs = encoder.prepare([[word] for word in words])
    rows = np.zeros((len(words), encoder.size), dtype=np.float32)
    encoder.eval()
    batches = alike([word.size for word in inputs], int, BUDGET)  # others would be mostly padding
    with torch.inference_mode():
        for width, chosen in track(batches, "reading words", total=len(batches)):
            rows[chosen] = encoder.layers(encoder.collate([inputs[word] for word in chosen], width)).numpy()
    if size > min(rows.shape):
        raise OptionError(
            f"{size} dimensions of {len(words)} words and vectors of {encoder.size}; pass a smaller number"
        )
    rows -= rows.mean(axis=0)
    _, directions = np.linalg.eigh(rows.T @ rows)
    narrow: Vectors = (rows @ directions[:, ::-1][:, :size]).astype(np.float32)
    narrow /= narrow.std()
    return narrow


def write_vectors(path: str | os.PathLike[str], words: Sequence[str], vectors: Vectors) -> None:
    """Write word vectors in the format of `read_vectors`: the numbers of words and dimensions, then a word a line."""
    with files.creating(path) as file:
        file.write(f"{len(words)} {vectors.shape[1]}\n".encode())
        for word, row in zip(words, vectors.tolist(), strict=True):
            file.write((" ".join([word, *(f"{value:.4g}" for value in row)]) + "\n").encode("utf-8"))

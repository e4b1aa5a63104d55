"""The `transformer` encoder: subwords from `tokenizers`; windows of similar size are read together."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, final

import numpy as np

from ropewalk.errors import MissingExtraError, ModelError
from ropewalk.models import subwords
from ropewalk.models.onnx.files import BESIDE, ENCODER
from ropewalk.models.onnx.limits import varying
from ropewalk.models.onnx.session import Session
from ropewalk.models.sentence_batches import alike
from ropewalk.models.storage import CONFIG, TOKENIZER
from ropewalk.models.subwords import Tokens

if TYPE_CHECKING:
    from ropewalk.core.arrays import Ints
    from ropewalk.core.columns import Column
    from ropewalk.models.inputs import Arrays, Inputs
    from ropewalk.models.label_sets import LabelSet
    from ropewalk.models.onnx.limits import InputSizes
    from ropewalk.models.scorer import Floats
    from ropewalk.models.storage import ModelFolder

MOST_TOKENS = 512  # for each thread: more of them do not fit into a core's cache
SHORT = 2  # subwords of a short window


def _window_sizes(window: int) -> list[InputSizes]:
    """Return the largest inputs of the network: one window of up to `window` subwords, or many short ones."""
    pairs = (varying(1), varying(window)), (varying(MOST_TOKENS // SHORT), varying(SHORT))
    return [dict.fromkeys(("ids", "mask", "types", "casings"), pair) for pair in pairs]


@final
class OnnxTransformer:
    """The `transformer` encoder: a tokenizer that splits words into subwords, and a network that reads these."""

    threads = 0  # all cores

    def __init__(self, folder: ModelFolder, _labels: LabelSet, threads: int) -> None:
        try:
            from tokenizers import Tokenizer
        except ImportError as failure:
            raise MissingExtraError("models on transformers", "tokenizers", "subwords") from failure
        file = folder.path / TOKENIZER
        try:
            self._tokenizer = Tokenizer.from_str(folder.listed(TOKENIZER).decode("utf-8"))
        except ModelError:
            raise
        except Exception as failure:
            raise ModelError(str(file), f"is no tokenizer: {failure}") from failure
        try:
            self._tokens = Tokens.from_json(folder.table["tokens"])
        except (KeyError, TypeError, AttributeError) as failure:
            problem = f"is damaged: it does not say how subwords are framed: {failure!r}"
            raise ModelError(str(folder.path / CONFIG), f"{problem}; copy or export the model again") from failure
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._most = MOST_TOKENS * threads
        self._pooling = folder.description.encoder.pooling
        beside = f"{ENCODER}{BESIDE}"
        weights = folder.listed(beside) if folder.has(beside) else b""
        network, sizes = folder.listed(ENCODER), _window_sizes(self._tokens.window)
        scale = max(-(-self._tokens.window // MOST_TOKENS), 1) ** 2  # memory grows with the square of a window
        self._encoder = Session(network, str(folder.path / ENCODER), threads, sizes, scale=scale, weights=weights)
        self.width = self._encoder.width("hidden")

    def vectors(self, forms: Column, offsets: Ints, budget: int, style: int = 0) -> Floats:  # noqa: ARG002 - of encoders with styles
        """Return the vector of each word; `offsets` are those of sentences in `forms`.

        Only sentences that have the same number of subwords, after rounding with `canonical`, are read in one batch.
        """
        inputs = self._inputs(forms, offsets)
        out = np.zeros((len(forms), self.width), dtype=np.float32)
        sizes = [sentence.size for sentence in inputs]
        most = min(budget, self._most)
        for size, chosen in alike(sizes, lambda length: subwords.canonical(self._tokens, length), most):
            arrays = subwords.side_by_side(self._tokens, [inputs[sentence] for sentence in chosen], size)
            places = np.concatenate([np.arange(offsets[sentence], offsets[sentence + 1]) for sentence in chosen])
            out[places] = self._pooled(arrays)
        return out

    def _inputs(self, forms: Column, offsets: Ints) -> list[Inputs]:
        texts = forms.texts()
        sentences = [texts[a:b] for a, b in pairwise(offsets.tolist())]
        encoded = self._tokenizer.encode_batch(sentences, is_pretokenized=True, add_special_tokens=False)
        return [
            subwords.inputs_of(self._tokens, words, pieces.ids, pieces.word_ids)
            for words, pieces in zip(sentences, encoded, strict=True)
        ]

    def _pooled(self, arrays: Arrays) -> Floats:
        hidden = self._encoder.run({name: arrays[name] for name in self._encoder.inputs})[0].reshape(-1, self.width)
        firsts, lasts = arrays["firsts"], arrays["lasts"]
        if self._pooling == "first":
            return hidden[firsts]
        if self._pooling == "last":
            return hidden[lasts]
        counts = lasts - firsts + 1
        starts = np.cumsum(counts) - counts
        places = np.arange(int(counts.sum())) - np.repeat(starts - firsts, counts)
        sums: Floats = np.add.reduceat(hidden[places], starts, axis=0)
        sums /= counts[:, None]
        return sums

"""The `transformer` encoder of Hugging Face: words are cut into subwords, long sentences into overlapping windows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import torch
from torch import Tensor, nn

from ropewalk import files
from ropewalk.errors import ModelError
from ropewalk.models import subwords
from ropewalk.models.description import EncoderShape
from ropewalk.models.onnx.files import ENCODER
from ropewalk.models.storage import TOKENIZER
from ropewalk.models.subwords import Tokens
from ropewalk.models.vocabulary import CASINGS
from ropewalk.training.encoders.word_encoder import Batch, WordEncoder
from ropewalk.training.onnx_graphs import SAMPLE, Computed, traced

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from onnx import ModelProto
    from transformers import PretrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

    from ropewalk.models.inputs import Inputs

HOME = "encoder"  # subfolder of a model for tokenizer and configuration
LARGE = 1 << 20  # a tokenizer's "no limit" is larger than this


def tokens_of(tokenizer: PreTrainedTokenizerBase, config: PretrainedConfig, window: int) -> Tokens:
    """Return an encoder's special tokens, padding and casing, and the largest number of subwords in a window.

    That number is `window`, or the encoder's number of positions if it is smaller.
    """
    inner = tokenizer(["a"], is_split_into_words=True, add_special_tokens=False)["input_ids"]
    whole = tokenizer(["a"], is_split_into_words=True, return_token_type_ids=True)
    ids, kinds = list(whole["input_ids"]), list(whole["token_type_ids"])
    start = next(place for place in range(len(ids)) if ids[place : place + len(inner)] == list(inner))
    stop = start + len(inner)
    unknown = tokenizer.unk_token_id if tokenizer.unk_token_id is not None else inner[0]
    letters = tokenizer(["A", "a"], is_split_into_words=True, add_special_tokens=False)["input_ids"]
    return Tokens(
        tuple(ids[:start]),
        tuple(ids[stop:]),
        tuple(kinds[:start]),
        tuple(kinds[stop:]),
        kinds[start],
        tokenizer.pad_token_id if tokenizer.pad_token_id is not None else unknown,
        unknown,
        tokenizer.padding_side,
        min(window, _reach(tokenizer, config)),
        letters[: len(letters) // 2] == letters[len(letters) // 2 :] and unknown not in letters,
        getattr(config, "type_vocab_size", 0) > 1 or config.model_type == "xlnet",
    )


def _reach(tokenizer: PreTrainedTokenizerBase, config: PretrainedConfig) -> int:
    """Return the largest number of subwords that an encoder can read at once, or `LARGE` if there is no limit."""
    reaches = [tokenizer.model_max_length]
    positions = getattr(config, "max_position_embeddings", -1)
    if positions and positions > 0:
        offset = config.pad_token_id + 1 if "roberta" in config.model_type or config.model_type == "camembert" else 0
        reaches.append(positions - offset)
    return int(min((reach for reach in reaches if 0 < reach < LARGE), default=LARGE))


@final
class Transformer(WordEncoder):
    """Pretrained encoder; a word's vector is that of its first or last subword, or their mean, as `pooling` names.

    With `cased`, an embedding of a word's casing is added to those of its subwords, for uncased vocabularies.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        tokens: Tokens,
        *,
        pooling: str,
        cased: bool,
    ) -> None:
        super().__init__()
        if isinstance(getattr(model, "pooler", None), nn.Module):
            setattr(model, "pooler", None)  # noqa: B010 - its type says a module; it reads the whole sentence, which nothing here does
        self.model = model
        self.tokenizer = tokenizer
        self.tokens = tokens
        self.pooling = pooling
        self.size = int(model.config.hidden_size)
        self.casing = nn.Embedding(len(CASINGS), self.size) if cased else None
        if self.casing is not None:
            nn.init.zeros_(self.casing.weight)  # so that training starts from the pretrained encoder's output

    @property
    def shape(self) -> EncoderShape:
        """The kind of encoder, its pooling of subwords, and whether it embeds casing, for the model's description."""
        return EncoderShape(kind="transformer", pooling=self.pooling, casing=self.casing is not None)

    def save(self, home: Path) -> dict[str, Any]:
        """Write tokenizer and configuration into the folder `home`; return its special tokens for `config.json`."""
        with files.creating_folder(home / HOME) as part:
            self.model.config.save_pretrained(part)
            self.tokenizer.save_pretrained(part)
        return {"tokens": self.tokens.to_json()}

    def networks(self) -> dict[str, ModelProto]:
        """Return the ONNX network, by file name, that computes the vectors of subwords.

        Its inputs are subword ids and a mask, and types and casings if the encoder uses them.
        """
        ids = torch.full((2, SAMPLE), self.tokens.unknown)
        samples = {"ids": ids, "mask": torch.ones_like(ids)}
        if self.tokens.takes_types:
            samples["types"] = torch.zeros_like(ids)
        if self.casing is not None:
            samples["casings"] = torch.zeros_like(ids)
        hidden = Computed(lambda own, given: own.encoder.hidden(given), encoder=self)
        return {ENCODER: traced(hidden, samples, ["hidden"], dynamic=2)}

    def save_exported(self, home: Path) -> dict[str, Any]:
        """Write the tokenizer as one file into the folder `home`; return its special tokens for `config.json`."""
        with files.creating(home / TOKENIZER) as file:
            file.write(self.tokenizer.backend_tokenizer.to_str().encode("utf-8"))
        return {"tokens": self.tokens.to_json()}

    def prepare(self, sentences: Sequence[Sequence[str]]) -> list[Inputs]:
        """Cut the words of each sentence into subwords, and long sentences into windows; return them as arrays."""
        encoded = self.tokenizer(
            [list(forms) for forms in sentences],
            is_split_into_words=True,
            add_special_tokens=False,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,
        )
        return [
            subwords.inputs_of(self.tokens, forms, encoded["input_ids"][number], encoded.word_ids(number))
            for number, forms in enumerate(sentences)
        ]

    def canonical(self, size: int) -> int:
        """Return a sentence's number of subwords, rounded up to a multiple of `models.subwords.STEP`."""
        return subwords.canonical(self.tokens, size)

    def collate(self, inputs: Sequence[Inputs], size: int = 0) -> Batch:
        """Return a batch of the windows of all sentences, with special tokens, padded to `size` or to the longest."""
        arrays = subwords.side_by_side(self.tokens, inputs, size)
        return Batch(
            {name: torch.from_numpy(array) for name, array in arrays.items()},
            torch.tensor([sentence.words for sentence in inputs]),
        )

    def forward(self, batch: Batch) -> Tensor:
        """Run the encoder over all windows; return the vectors of all words, pooled from subwords: [words, size]."""
        return self._pooled(self.hidden(batch.tensors), batch.tensors)

    def layers(self, batch: Batch) -> Tensor:
        """Return the vectors of all words, as the mean over all layers instead of the last layer: [words, size]."""
        layers = self.model(**self._given(batch.tensors), output_hidden_states=True).hidden_states
        return self._pooled(torch.stack(list(layers)).mean(0), batch.tensors)

    def _pooled(self, vectors: Tensor, tensors: Mapping[str, Tensor]) -> Tensor:
        hidden = vectors.flatten(0, 1)  # [windows * width, size]
        if self.pooling == "first":
            return hidden[tensors["firsts"]]
        if self.pooling == "last":
            return hidden[tensors["lasts"]]
        counts = tensors["lasts"] - tensors["firsts"] + 1
        owners = torch.repeat_interleave(torch.arange(len(counts), device=counts.device), counts)
        before = torch.cumsum(counts, 0) - counts
        places = torch.arange(len(owners), device=counts.device) - before[owners] + tensors["firsts"][owners]
        summed = hidden.new_zeros(len(counts), self.size).index_add(0, owners, hidden[places])
        return summed / counts[:, None]

    def hidden(self, tensors: Mapping[str, Tensor]) -> Tensor:
        """Return the last layer's vectors of all subwords: [windows, width, size]."""
        hidden: Tensor = self.model(**self._given(tensors)).last_hidden_state
        return hidden

    def _given(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the tensors of a batch under the names that the pretrained encoder expects."""
        if self.model.config.model_type == "xlnet":  # its conversion of a mask, which cannot be exported, computes this
            arguments = {"input_mask": torch.eq(tensors["mask"], 0).float()}
        else:
            arguments = {"attention_mask": tensors["mask"]}
        if self.tokens.takes_types:
            arguments["token_type_ids"] = tensors["types"]
        if self.casing is None:
            arguments["input_ids"] = tensors["ids"]
        else:
            embedded = self.model.get_input_embeddings()(tensors["ids"])
            arguments["inputs_embeds"] = embedded + self.casing(tensors["casings"])
        return arguments


def keep_layers(model: PreTrainedModel, layers: Sequence[int], name: str) -> None:
    """Remove all layers of a pretrained encoder except `layers`, which count from 1.

    Raise `ModelError` with `name` if it has no such layer.
    """
    count = int(model.config.num_hidden_layers)
    if not all(1 <= layer <= count for layer in layers):
        raise ModelError(name, f"has layers 1 to {count}; model.encoder.layers asks for {list(layers)}")
    for parent in model.modules():
        for key, child in list(parent.named_children()):
            if isinstance(child, nn.ModuleList) and len(child) == count:
                setattr(parent, key, nn.ModuleList(child[layer - 1] for layer in layers))
    model.config.num_hidden_layers = len(layers)

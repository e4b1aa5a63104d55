"""Any Hugging Face encoder: words are cut into subwords, long sentences into overlapping windows."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from ropewalk.errors import ModelError
from ropewalk.tagging.encoders.base import Batch, Encoder, Inputs
from ropewalk.tagging.features import CASINGS, casing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from transformers import PretrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

    from ropewalk.tagging.config import Encoder as Options

Places = npt.NDArray[np.int64]

STEP = 16  # canonical sizes are multiples of it
SPARE = 4  # no word has more subwords than this share of a window
LARGE = 1 << 20  # a tokenizer's "no limit" is larger than this


@dataclass(frozen=True, slots=True)
class Tokens:
    """How a sentence's subwords are framed and padded; all that is needed to do the same without transformers."""

    prefix: tuple[int, ...]
    suffix: tuple[int, ...]
    prefix_types: tuple[int, ...]
    suffix_types: tuple[int, ...]
    inner_type: int
    pad: int
    unknown: int
    side: str
    window: int
    lowercases: bool
    takes_types: bool

    @classmethod
    def of(cls, tokenizer: PreTrainedTokenizerBase, config: PretrainedConfig, window: int) -> Tokens:
        """Find out from a tokenizer and an encoder's configuration."""
        inner = tokenizer(["a"], is_split_into_words=True, add_special_tokens=False)["input_ids"]
        whole = tokenizer(["a"], is_split_into_words=True, return_token_type_ids=True)
        ids, kinds = list(whole["input_ids"]), list(whole["token_type_ids"])
        start = next(place for place in range(len(ids)) if ids[place : place + len(inner)] == list(inner))
        stop = start + len(inner)
        unknown = tokenizer.unk_token_id if tokenizer.unk_token_id is not None else inner[0]
        letters = tokenizer(["A", "a"], is_split_into_words=True, add_special_tokens=False)["input_ids"]
        return cls(
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

    @classmethod
    def from_json(cls, table: dict[str, Any]) -> Tokens:
        """Take the facts from what `config.json` holds."""
        facts: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in table.items()
        }
        return cls(**facts)

    def to_json(self) -> dict[str, Any]:
        """Give what `config.json` holds."""
        return {
            one.name: list(value) if isinstance(value := getattr(self, one.name), tuple) else value
            for one in dataclasses.fields(self)
        }

    @property
    def room(self) -> int:
        """How many subwords of a sentence fit into a window."""
        return self.window - len(self.prefix) - len(self.suffix)


def _reach(tokenizer: PreTrainedTokenizerBase, config: PretrainedConfig) -> int:
    """Tell how many positions an encoder has."""
    reaches = [tokenizer.model_max_length]
    positions = getattr(config, "max_position_embeddings", -1)
    if positions and positions > 0:
        offset = config.pad_token_id + 1 if "roberta" in config.model_type or config.model_type == "camembert" else 0
        reaches.append(positions - offset)
    return int(min((reach for reach in reaches if 0 < reach < LARGE), default=LARGE))


def windows(firsts: Places, lasts: Places, room: int) -> tuple[Places, Places]:
    """Cut a long sentence into windows of `room` subwords that overlap by half.

    Returns where each window starts, and for each word the window in which it is most central: the one where
    the nearer of its two edges is farthest; an edge that is the sentence's own does not count.
    """
    total = int(lasts[-1]) + 1
    if total <= room:
        return np.zeros(1, dtype=np.int64), np.zeros(len(firsts), dtype=np.int64)
    starts = np.arange(0, total - room, max(room // 2, 1), dtype=np.int64)
    starts = np.append(starts, total - room)
    left = np.where(starts == 0, total, firsts[:, None] - starts)
    right = np.where(starts + room == total, total, starts + room - 1 - lasts[:, None])
    inside = (firsts[:, None] >= starts) & (lasts[:, None] < starts + room)
    centrality = np.where(inside, np.minimum(left, right), -1)
    return starts, np.argmax(centrality, axis=1).astype(np.int64)


@final
class Transformer(Encoder):
    """A pretrained encoder; a word's vector is that of its first or last subword, or the mean of them all.

    Where the vocabulary is uncased, the casing of a word is added to the embeddings of its subwords.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        tokens: Tokens,
        options: Options,
        *,
        cased: bool,
    ) -> None:
        super().__init__()
        if isinstance(getattr(model, "pooler", None), nn.Module):
            setattr(model, "pooler", None)  # noqa: B010 - its type says a module; it reads the whole sentence, which nothing here does
        self.model = model
        self.tokenizer = tokenizer
        self.tokens = tokens
        self.pooling = options.pooling
        self.size = int(model.config.hidden_size)
        self.casing = nn.Embedding(len(CASINGS), self.size) if cased else None
        if self.casing is not None:
            nn.init.zeros_(self.casing.weight)  # at first the encoder is what it was
        if options.freeze_embeddings:
            model.get_input_embeddings().requires_grad_(False)  # noqa: FBT003 - torch's signature

    def prepare(self, sentences: Sequence[Sequence[str]]) -> list[Inputs]:
        """Cut words into subwords and sentences into windows."""
        encoded = self.tokenizer(
            [list(forms) for forms in sentences],
            is_split_into_words=True,
            add_special_tokens=False,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,
        )
        return [
            self._inputs(forms, encoded["input_ids"][number], encoded.word_ids(number))
            for number, forms in enumerate(sentences)
        ]

    def _inputs(self, forms: Sequence[str], ids: Sequence[int], owners: Sequence[int | None]) -> Inputs:
        most = max(self.tokens.room // SPARE, 1)
        pieces: list[list[int]] = [[] for _ in forms]
        for number, owner in zip(ids, owners, strict=True):
            if owner is not None and len(pieces[owner]) < most:
                pieces[owner].append(number)
        rows = [piece or [self.tokens.unknown] for piece in pieces]
        counts = np.array([len(row) for row in rows], dtype=np.int64)
        lasts = np.cumsum(counts) - 1
        firsts = lasts - counts + 1
        starts, chosen = windows(firsts, lasts, self.tokens.room)
        shift = len(self.tokens.prefix) - starts[chosen]
        total = int(lasts[-1]) + 1
        arrays = {
            "ids": np.array([number for row in rows for number in row], dtype=np.int64),
            "casings": np.repeat(np.array([casing(form) for form in forms], dtype=np.int64), counts),
            "starts": starts,
            "windows": chosen,
            "firsts": firsts + shift,
            "lasts": lasts + shift,
        }
        return Inputs(arrays, len(forms), min(total, self.tokens.room) + self.tokens.window - self.tokens.room)

    def canonical(self, size: int) -> int:
        """Round up to a multiple of sixteen subwords."""
        return min(-(-size // STEP) * STEP, max(self.tokens.window, size))

    def collate(self, inputs: Sequence[Inputs], size: int = 0) -> Batch:
        """Frame and pad every window of every sentence."""
        tokens = self.tokens
        width = max(size, *(one.size for one in inputs))
        height = sum(len(one.arrays["starts"]) for one in inputs)
        ids = np.full((height, width), tokens.pad, dtype=np.int64)
        types = np.zeros((height, width), dtype=np.int64)
        mask = np.zeros((height, width), dtype=np.int64)
        casings = np.zeros((height, width), dtype=np.int64)
        rows, firsts, lasts = [], [], []
        row = 0
        for one in inputs:
            shifts = []
            for start in one.arrays["starts"].tolist():
                inner = one.arrays["ids"][start : start + tokens.room]
                framed = np.concatenate([tokens.prefix, inner, tokens.suffix])
                left = width - len(framed) if tokens.side == "left" else 0
                where = slice(left, left + len(framed))
                body = slice(left + len(tokens.prefix), left + len(tokens.prefix) + len(inner))
                ids[row, where] = framed
                mask[row, where] = 1
                types[row, where] = [*tokens.prefix_types, *[tokens.inner_type] * len(inner), *tokens.suffix_types]
                casings[row, body] = one.arrays["casings"][start : start + tokens.room]
                shifts.append(left)
                row += 1
            chosen = one.arrays["windows"]
            shift = np.array(shifts, dtype=np.int64)[chosen]
            rows.append(chosen + (row - len(shifts)))
            firsts.append(one.arrays["firsts"] + shift)
            lasts.append(one.arrays["lasts"] + shift)
        arrays = {
            "ids": ids,
            "types": types,
            "mask": mask,
            "casings": casings,
            "firsts": np.concatenate(firsts) + np.concatenate(rows) * width,
            "lasts": np.concatenate(lasts) + np.concatenate(rows) * width,
        }
        return Batch(
            {name: torch.from_numpy(array) for name, array in arrays.items()},
            torch.tensor([one.words for one in inputs]),
        )

    def forward(self, batch: Batch) -> Tensor:
        """Run the encoder over all windows and take each word's vector from its own."""
        tensors = batch.tensors
        given: dict[str, Tensor] = {"attention_mask": tensors["mask"]}
        if self.tokens.takes_types:
            given["token_type_ids"] = tensors["types"]
        if self.casing is None:
            given["input_ids"] = tensors["ids"]
        else:
            embedded = self.model.get_input_embeddings()(tensors["ids"])
            given["inputs_embeds"] = embedded + self.casing(tensors["casings"])
        hidden: Tensor = self.model(**given).last_hidden_state.flatten(0, 1)  # [windows * width, size]
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


def keep_layers(model: PreTrainedModel, layers: Sequence[int], name: str) -> None:
    """Keep only some layers, counted from 1."""
    count = int(model.config.num_hidden_layers)
    if not all(1 <= layer <= count for layer in layers):
        raise ModelError(name, f"has layers 1 to {count}; model.encoder.layers asks for {list(layers)}")
    for parent in model.modules():
        for key, child in list(parent.named_children()):
            if isinstance(child, nn.ModuleList) and len(child) == count:
                setattr(parent, key, nn.ModuleList(child[layer - 1] for layer in layers))
    model.config.num_hidden_layers = len(layers)

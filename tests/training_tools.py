"""Tools for the tests of training: an invented treebank, tiny random encoders, and short configurations."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from filelock import FileLock

from ropewalk import conllu, encodings
from ropewalk.core.trees import Tree
from ropewalk.training.config import from_mapping
from ropewalk.treebank.treebank import Treebank

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

    from ropewalk.training.config import Config

logging.getLogger("torch.__trace").propagate = False  # it tells of every step of an export
torch.set_num_threads(1)  # idle threads of torch spin, and tests run beside each other

RELATIONS = ("nsubj", "obj", "det", "advmod", "conj")
TAGS = ("NOUN", "VERB", "DET", "ADV")
FAST = {"batch": 40, "encoder_rate": 3e-2, "head_rate": 3e-2}  # for a small `bilstm` that has only trees to learn
SLOWER = {"encoder_rate": 1e-2, "head_rate": 1e-2}  # where the rates of `FAST` may not settle


def bank_of(sentences: int, *, longest: int = 8, seed: int = 1) -> Treebank:
    """Invent sentences: words made of syllables, trees drawn at random, some of them with crossing arcs."""
    random = np.random.default_rng(seed)
    trees, forms, upos = [], [], []
    for _ in range(sentences):
        words = int(random.integers(2, longest + 1))
        heads = [0] * words
        order = random.permutation(words) + 1
        for place, word in enumerate(order.tolist()):
            near = sorted((abs(other - word), other) for other in order[:place].tolist())
            heads[word - 1] = 0 if not place else near[0 if random.random() < 0.9 else -1][1]
        relations = [RELATIONS[int(random.integers(len(RELATIONS)))] if head else "root" for head in heads]
        trees.append(Tree(heads, relations))
        forms += ["".join(random.choice(["ka", "Lo", "mi", "ne", "su"], size=5)) for _ in range(words)]
        upos.append([TAGS[int(random.integers(len(TAGS)))] for _ in range(words)])
    bank = Treebank.of(trees, upos)
    feats = [f"Case={form[-1]}|Style={form[0]}" if form[0] in "kL" else "_" for form in forms]
    lemmas = [form.lower()[:-2] if form.endswith("su") else "ka" if form[0] == "L" else form for form in forms]
    xpos = [form[-1] for form in forms]
    bank = bank.with_columns({"form": forms, "lemma": lemmas, "xpos": xpos, "feats": feats})
    return conllu.loads(conllu.dumps(bank))


def restored(bank: Treebank, encoding: str, most: int = 50) -> Treebank:
    """Keep sentences whose trees come back exactly from their labels."""
    found = encodings.get(encoding)
    again = found.recover(found.encode(bank)).trees
    right = (again.heads == bank.heads) & (np.array(again.relations.texts()) == np.array(bank.relations.texts()))
    return bank.select(np.flatnonzero(np.logical_and.reduceat(right, bank.offsets.starts))[:most])


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Return a folder that is made once in a session of tests, by the first process that needs it."""
    base = factory.getbasetemp()
    root = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
    place = root / name
    with FileLock(root / f"{name}.lock"):
        if not place.is_dir():
            part = root / f"{name}.part"
            part.mkdir(exist_ok=True)  # an earlier attempt may have failed
            make(part)
            part.rename(place)
    return place


def write_bank(path: Path, bank: Treebank) -> Path:
    """Write a treebank and give its path."""
    conllu.write(path, bank)
    return path


def tiny_encoder(home: Path, kind: str) -> Path:
    """Write a random encoder of one layer and a tokenizer of letters, in the way Hugging Face does."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import (
        BertConfig,
        BertModel,
        PreTrainedTokenizerFast,
        XLMRobertaConfig,
        XLMRobertaModel,
        XLNetConfig,
        XLNetModel,
    )

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    pieces = [*special, *letters, *(f"##{letter}" for letter in letters), "ka", "lo", "mi", "##ka", "##lo", "##mi"]
    tokenizer = Tokenizer(models.WordPiece({piece: n for n, piece in enumerate(pieces)}, unk_token="[UNK]"))  # noqa: S106 - a token of text
    tokenizer.normalizer = normalizers.Lowercase() if kind == "bert" else normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    single = "$A:0 [SEP]:0 [CLS]:2" if kind == "xlnet" else "[CLS]:0 $A:0 [SEP]:0"
    tokenizer.post_processor = processors.TemplateProcessing(single=single, special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",  # noqa: S106 - a token of text
        unk_token="[UNK]",  # noqa: S106 - likewise
        cls_token="[CLS]",  # noqa: S106 - likewise
        sep_token="[SEP]",  # noqa: S106 - likewise
        padding_side="left" if kind == "xlnet" else "right",
        model_max_length=10**30 if kind == "xlnet" else 64,
    ).save_pretrained(home)
    torch.manual_seed(0)
    sizes: dict[str, Any] = {
        "hidden_size": 64,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "initializer_range": 0.1,
    }
    positions: dict[str, Any] = {"intermediate_size": 64, "max_position_embeddings": 64, "pad_token_id": 0}
    if kind == "bert":
        BertModel(BertConfig(vocab_size=len(pieces), **sizes, **positions)).save_pretrained(home)
    elif kind == "xlm-roberta":
        positions |= {"max_position_embeddings": 65}
        XLMRobertaModel(XLMRobertaConfig(vocab_size=len(pieces), **sizes, **positions)).save_pretrained(home)
    else:
        XLNetModel(
            XLNetConfig(
                vocab_size=len(pieces),
                d_model=64,
                n_layer=1,
                n_head=2,
                d_inner=64,
                initializer_range=0.2,
                pad_token_id=0,
            )
        ).save_pretrained(home)
    return home


def config_of(data: Path, encoder: Path | None = None, *, epochs: int, seed: int = 1, **options: Any) -> Config:  # noqa: ANN401 - options of several types
    """Make a short configuration; without an encoder, a small `bilstm`."""
    made: dict[str, Any] = {"kind": "transformer", "name": str(encoder), "dropout": 0.0}
    if encoder is None:
        made = {"kind": "bilstm", "hidden": 64, "depth": 1, "least_count": 1, "dropout": 0.0, "forget": 0.0}
    made["pooling"] = options.pop("pooling", "first")
    options.pop("kind", None)
    relations = {"from": options.pop("relations", "word+head"), "hidden": options.pop("relation_hidden", 256)}
    decoding = {key: options.pop(key) for key in ("decoder",) if key in options}
    teacher = options.pop("teacher", {})
    rates = {key: options.pop(key) for key in FAST if key in options}
    return from_mapping(
        {
            "seed": seed,
            "data": {"train": str(data), "dev": str(data)},
            "model": {"encoder": made, "relations": relations, "dropout": 0.0, "hidden": 64, **options},
            "training": {
                "epochs": epochs,
                "batch": 20 if encoder is None else 80,
                "encoder_rate": 1e-2 if encoder is None else 3e-3,
                "head_rate": 1e-2 if encoder is None else 9e-3,
                "device": "cpu",
                **rates,
            },
            "teacher": teacher,
            "decoding": decoding,
        }
    )

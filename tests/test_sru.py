"""The `sru` encoder in training: gradients, and that it learns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch

from ropewalk.errors import ConfigError
from ropewalk.scoring.attachment import score
from ropewalk.training.checks import demand_used
from ropewalk.training.encoders.sru import Recurrence
from ropewalk.training.trainable import Trainable
from ropewalk.training.training_run import train
from training_tools import FAST, bank_of, config_of, write_bank

if TYPE_CHECKING:
    from pathlib import Path

LENGTHS = [4, 1, 6]


def looped(gates: torch.Tensor, inputs: torch.Tensor) -> torch.Tensor:
    """Compute vectors with a loop that torch differentiates itself."""
    candidate, forget, keep = gates.chunk(3, -1)
    half = inputs.shape[1] // 2
    sentences = []
    for z, f in zip(*(torch.split(one, LENGTHS) for one in (2 * candidate - 1, forget)), strict=True):
        sides = []
        for part, order in ((slice(0, half), range(len(z))), (slice(half, None), range(len(z) - 1, -1, -1))):
            state = inputs.new_zeros(half)
            states = {}
            for word in order:
                state = f[word, part] * state + (1 - f[word, part]) * z[word, part]
                states[word] = state
            sides.append(torch.stack([states[word] for word in range(len(z))]))
        sentences.append(torch.cat(sides, -1))
    return keep * torch.cat(sentences) + (1 - keep) * inputs


def test_gradients_are_those_of_a_plain_loop() -> None:
    torch.manual_seed(1)
    words = sum(LENGTHS)
    offsets = np.cumsum([0, *LENGTHS]).astype(np.int32)
    weights = torch.randn(words, 10)
    found = []
    logits, inputs = torch.randn(words, 30), torch.randn(words, 10)
    for apply in (lambda gates, given, _: looped(gates, given), Recurrence.apply):
        given = [one.clone().requires_grad_() for one in (logits, inputs)]
        vectors = apply(given[0].sigmoid(), given[1].tanh(), offsets)
        (vectors * weights).sum().backward()
        found.append([vectors.detach(), *(one.grad for one in given)])
    for ours, theirs in zip(*found, strict=True):
        assert ours is not None
        assert theirs is not None
        assert torch.allclose(ours, theirs, atol=1e-5)


def test_it_learns_trees_and_is_loaded_as_it_was(tmp_path: Path) -> None:
    bank = bank_of(40, longest=12, seed=3)
    config = config_of(write_bank(tmp_path / "bank.conllu", bank), epochs=25, encoding="optimal", **FAST)  # type: ignore[arg-type]
    encoder = replace(config.model.encoder, kind="sru", depth=2)
    training = replace(config.training, encoder_rate=5e-3)
    config = replace(config, model=replace(config.model, encoder=encoder), training=training)
    train(config, tmp_path / "out")
    model = Trainable.load(tmp_path / "out").model()
    assert model.description.encoder.kind == "sru"
    assert score(bank, model.parse(bank)).las > 0.9


def test_the_size_of_inputs_is_no_option(tmp_path: Path) -> None:
    config = config_of(tmp_path / "none.conllu", epochs=1)
    encoder = replace(config.model.encoder, kind="sru", input_size=64)
    with pytest.raises(ConfigError, match=r"model\.encoder\.input_size"):
        demand_used(replace(config, model=replace(config.model, encoder=encoder)))

"""Results for many words or classifiers at once: they are those of each alone."""

from __future__ import annotations

import pytest
import torch

from ropewalk.models.description import EncoderShape
from ropewalk.models.vocabulary import Vocabulary
from ropewalk.training.classifiers import FeedForward, several
from ropewalk.training.encoders.sru import SRU


@pytest.mark.parametrize("hidden", [0, 8])
def test_classifiers_computed_together_score_as_each_alone(hidden: int) -> None:
    torch.manual_seed(1)
    classifiers = [FeedForward(20, hidden, classes, 0.3).eval() for classes in (3, 40, 5, 32)]
    words = torch.randn(7, 20, requires_grad=True)
    together = several(classifiers, words)
    alone = [one(words) for one in classifiers]
    for scores, expected in zip(together, alone, strict=True):
        assert scores.shape == expected.shape
        assert torch.allclose(scores, expected, atol=1e-6)
    sums = [torch.stack([(scores**2).sum() for scores in found]).sum() for found in (together, alone)]
    gradients = [torch.autograd.grad(total, [words, *classifiers[0].parameters()]) for total in sums]
    assert all(torch.allclose(one, other, atol=1e-4) for one, other in zip(*gradients, strict=True))
    assert several(classifiers[:1], words)[0].equal(alone[0])


def test_dropout_of_classifiers_computed_together_is_random_for_each() -> None:
    torch.manual_seed(1)
    classifiers = [FeedForward(20, 200, 2, 0.5).train() for _ in range(2)]
    classifiers[1].load_state_dict(classifiers[0].state_dict())
    first, second = several(classifiers, torch.ones(1, 20))
    assert not torch.allclose(first, second)


def test_a_words_features_do_not_depend_on_the_words_beside_it() -> None:
    """Characters of words of similar length are read together."""
    torch.manual_seed(1)
    vocabulary = Vocabulary(("a",), ("b",), ("x",), tuple("abcdefgh"), ())
    shape = EncoderShape("sru", word_size=4, affix_size=4, shape_size=4, character_size=4, hidden=6, depth=1)
    encoder = SRU(shape, vocabulary).eval()
    words = ["a", "bcd", "abcdefghabcdefghabcdefgh", "fgh", "ab", "hgfedcba"]
    together = encoder(encoder.collate(encoder.prepare([[word] for word in words])))
    for word, vector in zip(words, together, strict=True):
        assert torch.allclose(encoder(encoder.collate(encoder.prepare([[word]])))[0], vector, atol=1e-6), word

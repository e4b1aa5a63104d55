"""Errors say where, what was found, what was expected and what to do, and carry the data."""

from __future__ import annotations

import inspect
import re

import pytest

from ropewalk import encodings, errors
from ropewalk.parallel import workers

EVERY = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, Exception) and kind.__module__ == errors.__name__
]


@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
def test_every_error_is_a_ropewalk_error_and_drawn_where_it_stands(kind: type[Exception]) -> None:
    assert issubclass(kind, errors.RopewalkError)
    assert kind.__doc__
    above = {0: errors.RopewalkError.__name__}
    drawn = {above[0]: Exception.__name__}
    for bars, name in re.findall(r"^ {4}((?:│ {3})*)[├└]── (\w+)", str(errors.__doc__), flags=re.MULTILINE):
        depth = len(bars) // 4
        drawn[name], above[depth + 1] = above[depth], name
    assert drawn[kind.__name__] == kind.__bases__[0].__name__


def test_a_wrong_option_concerns_an_encoding_only_where_it_is_one_of_an_encoding() -> None:
    with pytest.raises(errors.OptionError) as jobs:
        workers.count_of(-1)
    assert not isinstance(jobs.value, errors.EncodingError)
    with pytest.raises(errors.OptionError) as planes:
        encodings.get("brackets(planes=0)")
    assert isinstance(planes.value, errors.EncodingError)


def test_a_format_error_begins_with_its_place() -> None:
    error = errors.FormatError("a.conllu", 12, "head", "HEAD is 9, but the sentence has 3 words", word="2")
    assert str(error) == "a.conllu:12: word 2: HEAD is 9, but the sentence has 3 words"
    assert (error.file, error.line, error.kind, error.word) == ("a.conllu", 12, "head", "2")
    assert str(errors.FormatError("a.conllu", 3, "columns", "found 9")) == "a.conllu:3: found 9"
    assert str(errors.FormatError("a.conllu", 0, "empty", "the file is empty")) == "a.conllu: the file is empty"


def test_an_unknown_name_lists_the_known_ones_and_the_nearest() -> None:
    error = errors.UnknownNameError("encoding", "optimall", ["optimal", "hexatags"])
    assert "'optimall'" in str(error)
    assert "did you mean 'optimal'?" in str(error)
    assert "optimal, hexatags" in str(error)
    assert "did you mean" not in str(errors.UnknownNameError("encoding", "zzz", ["optimal"]))
    assert error.known == ("optimal", "hexatags")


def test_an_uncovered_tree_names_some_of_its_arcs_and_the_way_out() -> None:
    arcs = [(2, word) for word in range(3, 11)]
    error = errors.UncoveredTreeError("optimal", 4, arcs, "these arcs cross")
    assert str(error).startswith("sentence 4: optimal cannot write this tree: these arcs cross: 2->3, ")
    assert "2->8 and 2 more" in str(error)
    assert "lift" in str(error)
    assert error.arcs == tuple(arcs)

"""Batches: parsed together, and each item alone if that fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_tools import EveryWordOnTheFirst, toy_parser
from ropewalk.batches import Share, grouped, joined, together

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ropewalk.treebank.treebank import Treebank

    Parse = Callable[[Sequence[str]], tuple[Treebank, list[int]]]

TEXTS = ["One. Two.", "", "Three.", "Four. Five. Six."]


@given(st.lists(st.integers(0, 9)), st.integers(1, 12))
def test_groups_keep_the_order_and_end_when_they_are_large_enough(sizes: list[int], most: int) -> None:
    groups = list(grouped(sizes, lambda size: size, most))
    assert [size for group in groups for size in group] == sizes
    assert all(groups)
    assert all(sum(group) >= most for group in groups[:-1])
    assert all(sum(group[:-1]) < most for group in groups)


def test_groups_are_taken_as_they_are_needed() -> None:
    taken: list[int] = []

    def numbers() -> Iterator[int]:
        for number in range(100):
            taken.append(number)
            yield number

    assert next(grouped(numbers(), lambda _: 1, 3)) == [0, 1, 2]
    assert taken == [0, 1, 2]


def parsing(calls: list[int], bad: str = "never") -> Parse:
    """Make a function that parses texts, but for one, and counts those of each call."""
    parser = toy_parser()

    def parse(texts: Sequence[str]) -> tuple[Treebank, list[int]]:
        calls.append(len(texts))
        if any(bad in text for text in texts):
            raise RuntimeError(f"no tree for {bad}")
        return parser.parse_together(texts)

    return parse


def forms(outcome: Share | Exception) -> list[str]:
    assert isinstance(outcome, Share)
    return joined([outcome]).column("form").texts()


def test_items_are_parsed_with_one_call_and_share_a_treebank() -> None:
    calls: list[int] = []
    outcomes = together(TEXTS, parsing(calls))
    assert calls == [4]
    assert [forms(outcome) for outcome in outcomes] == [
        ["One", ".", "Two", "."], [], ["Three", "."], ["Four", ".", "Five", ".", "Six", "."],
    ]  # fmt: skip
    shares = [outcome for outcome in outcomes if isinstance(outcome, Share)]
    assert len({id(share.bank) for share in shares}) == 1
    assert joined(shares) is shares[0].bank
    assert together([], parsing(calls)) == []
    assert calls == [4]


def test_an_item_that_fails_costs_no_other() -> None:
    calls: list[int] = []
    outcomes = together(TEXTS, parsing(calls, "Three"))
    assert calls == [4, 1, 1, 1, 1]
    assert str(outcomes[2]) == "no tree for Three"
    good = [outcome for outcome in outcomes if isinstance(outcome, Share)]
    alone = together([TEXTS[0], TEXTS[1], TEXTS[3]], parsing(calls))
    assert [forms(share) for share in good] == [forms(share) for share in alone]
    assert len(joined(good)) == 5
    assert len(joined([])) == 0
    assert joined([good[2], good[0]]).column("form").texts() == forms(good[2]) + forms(good[0])


def test_a_stream_of_texts_stops_where_one_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    parse = EveryWordOnTheFirst.parse

    def fail(self: EveryWordOnTheFirst, bank: Treebank) -> Treebank:
        if "Three" in bank.column("form").texts():
            raise RuntimeError("no tree for Three")
        return parse(self, bank)

    monkeypatch.setattr(EveryWordOnTheFirst, "parse", fail)
    documents = toy_parser().pipe(TEXTS)
    assert [next(documents).text, next(documents).text] == TEXTS[:2]
    with pytest.raises(RuntimeError, match="no tree for Three"):
        next(documents)

"""The decoder step by step: the effect of each bracket on the stack, its arcs, faults and repairs.

The rules are those of `kernels.optimal.match`, written for display instead of speed. Tests compare the result of a
trace with that of the decoders.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from ropewalk import encodings
from ropewalk.core.ragged import Offsets
from ropewalk.core.repair import repair
from ropewalk.drawing.scene import demand_few
from ropewalk.encodings.bracket_text import bracket_symbols, bracket_text
from ropewalk.errors import OptionError
from ropewalk.kernels.codes import (
    CLOSES_CYCLE,
    CLOSING,
    INDEX,
    NO_HEAD,
    OUTSIDE,
    RIGHTWARD,
    SECOND_HEAD,
    SUPER,
    UNMATCHED_CLOSING,
    UNMATCHED_OPENING,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.encodings import Encoding, Machine, Marks


@dataclass(frozen=True, slots=True)
class Open:
    """An opening bracket on the stack: its `symbol`, and the `node` whose label has it."""

    symbol: int
    node: int

    @property
    def text(self) -> str:
        """The bracket as it is written in labels."""
        return bracket_text([self.symbol])


@dataclass(frozen=True, slots=True)
class Made:
    """An arc that a step makes. If it is refused, `fault` is the code of the reason, else 0."""

    head: int
    dependent: int
    structural: bool
    fault: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the decoder: the start, an opening or closing bracket, the end of the labels, or a repair.

    `bracket` is the index of the bracket in the label of `word`, and `stack` the stack after the step, its top last.

    For a closing bracket, `match` is the index of the matching bracket on the stack before the step, or -1. The arc of
    the two is the last of `arcs`; it may be refused. `passed` are the indices, on the same stack, of semibrackets that
    make arcs or have their index lowered.

    `faults` are pairs of a word and a code. `removed` is the (head, dependent) pair that a repair replaces, or None.
    """

    kind: Literal["start", "open", "close", "end", "repair"]
    word: int
    bracket: int
    symbol: str
    stack: tuple[Open, ...]
    match: int = -1
    passed: tuple[int, ...] = ()
    arcs: tuple[Made, ...] = ()
    faults: tuple[tuple[int, int], ...] = ()
    removed: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """All steps of the decoder from the labels of a sentence to its tree.

    `spelled` has the brackets of each label. `decoded` has the head of each word before the repair, -1 for none, and
    `heads` those of the repaired tree. If the encoding is `naive`, all its brackets are treated as superbrackets.
    """

    encoding: str
    labels: tuple[str, ...]
    spelled: tuple[tuple[str, ...], ...]
    steps: tuple[Step, ...]
    decoded: tuple[int, ...]
    heads: tuple[int, ...]
    naive: bool = False

    def faults(self) -> list[tuple[int, int]]:
        """Return the faults of all steps: pairs of a word, counted from 1, and a code of `kernels.codes`."""
        return [fault for step in self.steps for fault in step.faults]


def trace(labels: Sequence[str], encoding: str | Encoding = "optimal", *, repair_policy: str = "nearest") -> Trace:
    """Decode the labels of a sentence, valid or not, and return every step of the decoder."""
    demand_few(len(labels))
    chosen = encodings.get(encoding) if isinstance(encoding, str) else encoding
    spelled = _spell(chosen, labels)
    steps = [Step("start", 0, 0, "", (Open(RIGHTWARD | SUPER, 0),))]
    heads: list[int] = [-1] * len(labels)
    for word, symbols in enumerate(spelled, start=1):
        for index, symbol in enumerate(symbols):
            stack = steps[-1].stack
            text = bracket_text([symbol])
            if not symbol & CLOSING:
                steps.append(Step("open", word, index, text, (*stack, Open(symbol, word))))
                continue
            step = _close(stack, symbol, word, heads, naive=chosen.naive_brackets)
            steps.append(replace(step, bracket=index, symbol=text))
    # Node 0's bracket stays open: the word without a head reports it, or else the last that leans on it.
    leaning = [0, *(arc.dependent for step in steps for arc in step.arcs if arc.head == 0 and not arc.structural)]
    missed = 0 if chosen.naive_brackets else leaning[-1]
    left = [(entry.node or missed, UNMATCHED_OPENING) for entry in steps[-1].stack if entry.node or missed]
    left += [(word, NO_HEAD) for word, head in enumerate(heads, start=1) if head < 0]
    steps.append(Step("end", len(labels), 0, "", steps[-1].stack, faults=tuple(left)))
    fixed = _repairs(heads, repair_policy)
    steps += [replace(step, stack=steps[-1].stack) for step in fixed]
    final = list(heads)
    for step in fixed:
        final[step.word - 1] = step.arcs[0].head
    names = tuple(tuple(bracket_text([symbol]) for symbol in symbols) for symbols in spelled)
    return Trace(chosen.spec, tuple(labels), names, tuple(steps), tuple(heads), tuple(final), chosen.naive_brackets)


def can_be_traced(encoding: Encoding) -> bool:
    """Return whether `trace` can show how labels of `encoding` are decoded.

    The labels must consist of brackets, or the encoding's automaton must mark the arcs that each label opens and
    closes.
    """
    labels = encoding.alphabet or ()
    machine = encoding.machine(labels)
    return encoding.brackets(labels) is not None or (machine is not None and machine.marks_arcs)


def _spell(encoding: Encoding, labels: Sequence[str]) -> list[list[int]]:
    """Return the bracket symbols of each label; if the encoding is naive, all are superbrackets."""
    if not can_be_traced(encoding):
        raise OptionError(
            f"the steps of {encoding.spec} cannot be shown; "
            f"those of these encodings can: {', '.join(encodings.names_where(can_be_traced))}"
        )
    for label in labels:
        encoding.check_label(label)
    machine = encoding.machine(tuple(dict.fromkeys(labels)) if encoding.alphabet is None else encoding.alphabet)
    texts = encoding.brackets(labels)
    if texts is None and machine is not None:
        return _driven(encoding.spec, machine, labels)
    extra = SUPER if encoding.naive_brackets else 0
    return [[symbol | extra for symbol in bracket_symbols(encoding.spec, text)] for text in texts or ()]


def _driven(spec: str, machine: Machine, labels: Sequence[str]) -> list[list[int]]:
    """Run an encoding's automaton over labels; return each label's effect on the stack as bracket symbols."""
    state, spelled = machine.start, []
    for word, label in enumerate(labels, start=1):
        after = machine.step(state, machine.labels.index(label))
        if after is None:
            raise OptionError(
                f"word {word}: the label {label!r} does not fit those before it; "
                f"of {spec} only the steps of labels that fit together can be shown"
            )
        state = after[0]
        spelled.append(_as_brackets(after[1]))
    return spelled


def _as_brackets(marks: Marks) -> list[int]:
    """Return the effect of a label on the stack as bracket symbols.

    Closing brackets come first, from the top of the stack down; opening brackets follow, from the bottom up.
    """
    taken = [
        (-marks.leans, CLOSING | RIGHTWARD),
        (-marks.closes_left, CLOSING | SUPER),
        (-marks.closes_right, CLOSING | RIGHTWARD | SUPER),
    ]
    put = [(marks.opens_left, SUPER), (marks.opens_right, RIGHTWARD | SUPER), (marks.waits, 0)]
    # at the same height, a bracket is leaned on before it closes, and opens before another waits under it
    ordered = sorted(taken, key=lambda mark: mark[0]) + sorted(put, key=lambda mark: mark[0])
    return [symbol for height, symbol in ordered if height]


def _close(stack: tuple[Open, ...], symbol: int, word: int, heads: list[int], *, naive: bool) -> Step:
    """Return the step of a closing bracket, and add its arcs to `heads`, as `kernels.optimal.match` does.

    With `naive`, a bracket matches even if its arc is refused, and the bracket of node 0 stays on the stack.
    """
    own = symbol & RIGHTWARD
    skip = symbol // INDEX
    refused = UNMATCHED_CLOSING
    arcs: list[Made] = []
    faults: list[tuple[int, int]] = []
    match = -1
    passed: list[int] = []
    rope: list[Made] = []
    kept: list[Open] = []  # from the top down
    bottom = len(stack)
    while bottom:
        bottom -= 1
        entry = stack[bottom]
        if not entry.symbol & SUPER:
            if symbol & SUPER:
                passed.append(bottom)
                if entry.symbol >= INDEX:
                    kept.append(replace(entry, symbol=entry.symbol - INDEX))
                else:
                    ends = (entry.node, word) if entry.symbol & RIGHTWARD else (word, entry.node)
                    arcs.append(_add_arc(*ends, heads, structural=False))
                    faults += [(arc.dependent, arc.fault) for arc in arcs[-1:] if arc.fault]
            else:
                kept.append(entry)
            continue
        wanted = refused == UNMATCHED_CLOSING and (not symbol & SUPER or entry.symbol & RIGHTWARD == own)
        if not wanted or skip:
            skip -= wanted
            kept.append(entry)
            continue
        ends = (entry.node, word) if own else (word, entry.node)
        match = bottom
        rope = [_add_arc(*ends, heads, structural=bool(symbol & SUPER))]
        refused = rope[0].fault
        if not symbol & SUPER or (refused and not naive) or (naive and not entry.node):
            kept.append(entry)
        if not symbol & SUPER or not refused or naive:
            break
    if refused:
        faults.append((max(rope[0].dependent, 1) if naive and rope else word, refused))
    left = (*stack[:bottom], *reversed(kept))
    return Step("close", word, 0, "", left, match, tuple(passed), (*arcs, *rope), tuple(faults))


def _add_arc(head: int, dependent: int, heads: list[int], *, structural: bool) -> Made:
    """Add an arc to `heads`, or refuse it: no word gets a second head, node 0 gets none, and there are no cycles."""
    fault = 0
    if dependent < 1:
        fault = OUTSIDE
    elif heads[dependent - 1] >= 0:
        fault = SECOND_HEAD
    elif _top(heads, head) == dependent:
        fault = CLOSES_CYCLE
    else:
        heads[dependent - 1] = head
    return Made(head, dependent, structural=structural, fault=fault)


def _top(heads: list[int], node: int) -> int:
    while node and heads[node - 1] >= 0:
        node = heads[node - 1]
    return node


def _repairs(heads: list[int], policy: str) -> list[Step]:
    fixed = repair(np.array(heads, dtype=np.int32), Offsets.one(len(heads)), policy)
    return [
        Step(
            "repair",
            word + 1,
            0,
            "",
            (),
            arcs=(Made(int(fixed.trees.heads[word]), word + 1, structural=False),),
            removed=(heads[word], word + 1) if heads[word] >= 0 else None,
        )
        for word in fixed.words.tolist()
    ]

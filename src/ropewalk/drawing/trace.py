"""The decoder, step by step: what each bracket does to the stack, which arcs it makes, what breaks and is repaired.

The rules are those of `kernels.ropes.match`, written for watching instead of speed; what
a trace ends with is compared with the decoders in the tests.
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
    """An opening bracket on the stack, and the node that it stands at."""

    symbol: int
    node: int

    @property
    def text(self) -> str:
        """The bracket as in labels."""
        return bracket_text([self.symbol])


@dataclass(frozen=True, slots=True)
class Made:
    """An arc that a step makes; `fault` says why it is refused, 0 if it is not."""

    head: int
    dependent: int
    structural: bool
    fault: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """What one bracket does, or the end of the labels, or one repair.

    `match` is the place on the stack before the step of the bracket that fits, -1 if none does, even if their arc,
    the last one, is refused; `passed` are the places of semibrackets that make arcs or have their index lowered;
    `stack` is what lies there afterwards, the top last.
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
    """All steps from labels to a tree.

    `spelled` are the brackets of each label, `decoded` the heads that they give, -1 for none, `heads` the tree's.
    The brackets of `naive` labels all count as superbrackets.
    """

    encoding: str
    labels: tuple[str, ...]
    spelled: tuple[tuple[str, ...], ...]
    steps: tuple[Step, ...]
    decoded: tuple[int, ...]
    heads: tuple[int, ...]
    naive: bool = False

    def faults(self) -> list[tuple[int, int]]:
        """List what was wrong: words from 1, and codes of `kernels.codes`."""
        return [fault for step in self.steps for fault in step.faults]


def trace(labels: Sequence[str], encoding: str | Encoding = "optimal", *, repair_policy: str = "nearest") -> Trace:
    """Read the labels of one sentence, however wrong, noting every step."""
    demand_few(len(labels))
    chosen = encodings.get(encoding) if isinstance(encoding, str) else encoding
    spelled = _spell(chosen, labels)
    steps = [Step("start", 0, 0, "", (Open(RIGHTWARD | SUPER, 0),))]
    heads: list[int] = [-1] * len(labels)
    for word, symbols in enumerate(spelled, start=1):
        for place, symbol in enumerate(symbols):
            stack = steps[-1].stack
            text = bracket_text([symbol])
            if not symbol & CLOSING:
                steps.append(Step("open", word, place, text, (*stack, Open(symbol, word))))
                continue
            step = _close(stack, symbol, word, heads, naive=chosen.naive_brackets)
            steps.append(replace(step, bracket=place, symbol=text))
    # Node 0's bracket is missed by the word without a head, or else by the last that leant on it.
    leant = [0, *(arc.dependent for step in steps for arc in step.arcs if arc.head == 0 and not arc.structural)]
    missed = 0 if chosen.naive_brackets else leant[-1]
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
    """Tell whether labels can be read step by step: as brackets, or by the arcs that their machine marks."""
    labels = encoding.alphabet or ()
    machine = encoding.machine(labels)
    return encoding.brackets(labels) is not None or (machine is not None and machine.marks_arcs)


def _spell(encoding: Encoding, labels: Sequence[str]) -> list[list[int]]:
    """Turn labels into brackets; those of naive labels all count as superbrackets."""
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
    """Run a machine over labels, and write what each does to the stack as brackets."""
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
    """Write marks as brackets: what is taken off the stack from its top down, then what is put there from below."""
    taken = [
        (-marks.leans, CLOSING | RIGHTWARD),
        (-marks.closes_left, CLOSING | SUPER),
        (-marks.closes_right, CLOSING | RIGHTWARD | SUPER),
    ]
    put = [(marks.opens_left, SUPER), (marks.opens_right, RIGHTWARD | SUPER), (marks.waits, 0)]
    # of the same height, a bracket is leant on before it is closed, and opened before something waits under it
    ordered = sorted(taken, key=lambda mark: mark[0]) + sorted(put, key=lambda mark: mark[0])
    return [symbol for height, symbol in ordered if height]


def _close(stack: tuple[Open, ...], symbol: int, word: int, heads: list[int], *, naive: bool) -> Step:
    """Match a closing bracket and take its arcs into the heads, as `kernels.ropes.match` does.

    Brackets of naive labels match whether or not their arc is valid, and never use up node 0's.
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
    """Take an arc into the heads, unless it makes a second head or a cycle."""
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

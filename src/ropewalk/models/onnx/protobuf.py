"""The wire format of protocol buffers, in which ONNX stores networks.

A message is a sequence of fields. A field is a number, a kind, and a value: an integer, or bytes that may hold another
message. The reader copies nothing and accepts what the format allows: any order of fields, integers in more bytes than
they need, repeated integers one by one or packed. It raises `ValueError` where readers could disagree about a message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

INTEGER, EIGHT_BYTES, BYTES, FOUR_BYTES = 0, 1, 2, 5  # kinds of fields
LONGEST_TAG, LONGEST_INTEGER = 5, 10  # bytes
TAGS, INTEGERS = 1 << 32, 1 << 64  # all of them are smaller


Field = tuple[int, int, int, int, int, int]  # number, kind, start of the field, start and stop of its bytes, integer
FieldContent = tuple[int, int, int]  # start and stop of a field's bytes, and its integer


class Rule(NamedTuple):
    """Rule for a field of a message: its `name` in errors, its `kind`, and whether it may repeat or occur at all."""

    name: str
    kind: int = BYTES
    repeated: bool = False
    allowed: bool = True


FieldContents = dict[int, list[FieldContent]]  # by the numbers of fields


def fields(raw: bytes, start: int = 0, stop: int | None = None) -> Iterator[Field]:
    """Yield the fields of the message in `raw` from `start` to `stop`; raise `ValueError` if it is invalid."""
    at, end = start, len(raw) if stop is None else stop
    while at < end:
        begin = at
        tag = raw[at]
        at += 1
        if tag > 127:
            tag, at = _integer(raw, begin, end, LONGEST_TAG)
        kind, number = tag & 7, tag >> 3
        if not number or tag >= TAGS:
            raise ValueError(f"the number of a field is {number}")
        first = at
        if kind in {INTEGER, BYTES}:
            value = raw[at] if at < end else 128
            at += 1
            if value > 127:
                value, at = _integer(raw, first, end, LONGEST_INTEGER if kind == INTEGER else LONGEST_TAG)
            if kind == BYTES:
                first, at = at, at + value
        elif kind in {EIGHT_BYTES, FOUR_BYTES}:
            value = 0
            at += 8 if kind == EIGHT_BYTES else 4
        else:
            raise ValueError(f"a field has kind {kind}")
        if at > end:
            raise ValueError("a field is longer than its message")
        yield number, kind, begin, first, at, value


def read(raw: bytes, start: int, stop: int, rules: Mapping[int, Rule]) -> FieldContents:
    """Return the contents of a message's fields, by the field's number.

    The message is `raw` from `start` to `stop`. `rules` has the rule of each field number. Raise `ValueError` if a
    field has no rule or breaks it.
    """
    contents: FieldContents = {}
    for number, kind, _, first, last, value in fields(raw, start, stop):
        rule = rules.get(number)
        if rule is None or not rule.allowed:
            raise ValueError(f"it has {'an unknown field' if rule is None else rule.name} ({number})")
        if kind != rule.kind and not (rule.repeated and kind == BYTES):
            raise ValueError(f"its {rule.name} (field {number}) has the wire type {kind}; expected {rule.kind}")
        if number in contents and not rule.repeated:
            raise ValueError(f"it has {rule.name} ({number}) twice")
        contents.setdefault(number, []).append((first, last, value))
    return contents


def integers(raw: bytes, repeated: Iterable[FieldContent]) -> Iterator[int]:
    """Decode the integers of the fields `repeated`, each with one integer or several; yield them as signed integers."""
    for at, stop, _ in repeated:
        place = at
        while place < stop:
            value, place = _integer(raw, place, stop, LONGEST_INTEGER)
            yield signed(value)


def signed(value: int) -> int:
    """Convert an unsigned 64-bit integer to the signed one with the same bits."""
    return value - INTEGERS if value >= INTEGERS // 2 else value


def written(number: int, content: bytes) -> bytes:
    """Encode a field of a message: its `number`, its length, and its bytes, `content`."""
    return _as_integer(number << 3 | BYTES) + _as_integer(len(content)) + content


def _integer(raw: bytes, at: int, end: int, longest: int) -> tuple[int, int]:
    value = 0
    for place in range(longest):
        if at >= end:
            break
        byte = raw[at]
        at += 1
        value |= (byte & 127) << 7 * place
        if byte < 128:
            return value % INTEGERS, at
    raise ValueError("an integer does not end")


def _as_integer(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])

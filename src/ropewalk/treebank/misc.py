"""The MISC column of a token: the spaces around it, its position in the text, and the probability of its arc."""

from __future__ import annotations

import math
import re
from typing import Final, NamedTuple

MOST_DIGITS: Final = 9  # of a position in a text
CONFIDENCE: Final = "Confidence="
_NAMED: Final = {"s": " ", "t": "\t", "n": "\n", "r": "\r", "p": "|", "\\": "\\"}
_ESCAPE: Final = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.))", re.DOTALL)
_BESIDE_TEXT: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b\ufeff|\\]")  # characters that MISC must escape
_LITERAL: Final = {character: f"\\{name}" for name, character in _NAMED.items()}


def _position(digits: str) -> int:
    """Return `digits` as an integer, a position in a text; -1 if it is no number or has over MOST_DIGITS digits."""
    return int(digits) if digits.isdecimal() and len(digits) <= MOST_DIGITS else -1


class Spaces(NamedTuple):
    """The spaces around a token, and its position in the text, as in MISC.

    `after` and `before` are the spaces after and before the token. `start` and `stop` are its character offsets in the
    text, -1 if unknown. `inside` is the token as written if it contains spaces other than single ones, else empty.
    """

    after: str
    before: str
    start: int
    stop: int
    inside: str = ""

    @classmethod
    def of(cls, misc: str) -> Spaces:
        """Read the spaces and the position of a token from its MISC."""
        if misc == "_":
            return _ONE_SPACE
        parts = dict(part.partition("=")[::2] for part in reversed(misc.split("|")))
        after = "" if parts.get("SpaceAfter") == "No" else " "
        start, stop = map(_position, parts.get("TokenRange", "").partition(":")[::2])
        known = start >= 0 and stop >= 0
        return cls(
            unescaped(parts["SpacesAfter"]) if "SpacesAfter" in parts else after,
            unescaped(parts.get("SpacesBefore", "")),
            start if known else -1,
            stop if known else -1,
            unescaped(parts.get("SpacesInToken", "")),
        )

    def text(self) -> str:
        """Return the spaces and the position as text for MISC; "" if every value is the default."""
        parts = []
        if self.after != " ":
            parts.append(f"SpacesAfter={escaped(self.after)}" if self.after else "SpaceAfter=No")
        if self.before:
            parts.append(f"SpacesBefore={escaped(self.before)}")
        if self.inside:
            parts.append(f"SpacesInToken={_BESIDE_TEXT.sub(lambda match: escaped(match[0]), self.inside)}")
        if self.start >= 0:
            parts.append(f"TokenRange={self.start}:{self.stop}")
        return "|".join(parts)


_ONE_SPACE = Spaces(" ", "", -1, -1)


def escaped(spaces: str) -> str:
    r"""Return spaces as written in MISC: `\s`, `\n`, `\t`, `\r`, and `\u` with four digits for any other."""
    return "".join(_LITERAL.get(space) or f"\\u{ord(space):04X}" for space in spaces)


def unescaped(value: str) -> str:
    """Return a value of MISC in which each escape is replaced with the character that it stands for."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)) if match[1] else _NAMED.get(match[2], match[0]), value)


def probability_of(misc: str) -> float:
    """Return the probability of a word's arc (`Confidence=`) in its MISC; NaN if there is none."""
    return next((finite(part[len(CONFIDENCE) :]) for part in misc.split("|") if part.startswith(CONFIDENCE)), math.nan)


def finite(text: str) -> float:
    """Return `text` as a finite number; NaN if it is none."""
    try:
        number = float(text)
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan

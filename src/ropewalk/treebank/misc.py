"""MISC of a token: the spaces around it, its position in the text, and the probability of its arc."""

from __future__ import annotations

import math
import re
from typing import Final, NamedTuple

MOST_DIGITS: Final = 9  # of a place in a text
CONFIDENCE: Final = "Confidence="
_NAMED: Final = {"s": " ", "t": "\t", "n": "\n", "r": "\r", "p": "|", "\\": "\\"}
_ESCAPE: Final = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.))", re.DOTALL)
_BESIDE_TEXT: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b\ufeff|\\]")  # what MISC cannot hold as it is
_LITERAL: Final = {character: f"\\{name}" for name, character in _NAMED.items()}


def _place(digits: str) -> int:
    """Return a position in a text, -1 if `digits` is none or lies beyond any text."""
    return int(digits) if digits.isdecimal() and len(digits) <= MOST_DIGITS else -1


class Spaces(NamedTuple):
    """Spaces and position of a token as MISC has them.

    `inside` is the token as written if it has other than single spaces inside, else empty.
    """

    after: str
    before: str
    start: int
    stop: int
    inside: str = ""

    @classmethod
    def of(cls, misc: str) -> Spaces:
        """Read MISC."""
        if misc == "_":
            return _ONE_SPACE
        parts = dict(part.partition("=")[::2] for part in reversed(misc.split("|")))
        after = "" if parts.get("SpaceAfter") == "No" else " "
        start, stop = map(_place, parts.get("TokenRange", "").partition(":")[::2])
        known = start >= 0 and stop >= 0
        return cls(
            unescaped(parts["SpacesAfter"]) if "SpacesAfter" in parts else after,
            unescaped(parts.get("SpacesBefore", "")),
            start if known else -1,
            stop if known else -1,
            unescaped(parts.get("SpacesInToken", "")),
        )

    def text(self) -> str:
        """Write MISC; nothing if there is nothing to say."""
        parts = []
        if self.after != " ":
            parts.append(f"SpacesAfter={escaped(self.after)}" if self.after else "SpaceAfter=No")
        if self.before:
            parts.append(f"SpacesBefore={escaped(self.before)}")
        if self.inside:
            parts.append(f"SpacesInToken={_BESIDE_TEXT.sub(lambda found: escaped(found[0]), self.inside)}")
        if self.start >= 0:
            parts.append(f"TokenRange={self.start}:{self.stop}")
        return "|".join(parts)


_ONE_SPACE = Spaces(" ", "", -1, -1)


def escaped(spaces: str) -> str:
    r"""Write spaces as MISC holds them: `\s`, `\n`, `\t`, `\r`, and `\u` with four digits for any other."""
    return "".join(_LITERAL.get(one) or f"\\u{ord(one):04X}" for one in spaces)


def unescaped(value: str) -> str:
    """Read spaces from MISC."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else _NAMED.get(found[2], found[0]), value)


def probability_of(misc: str) -> float:
    """Read the probability of an arc from MISC, NaN for none."""
    return next((finite(part[len(CONFIDENCE) :]) for part in misc.split("|") if part.startswith(CONFIDENCE)), math.nan)


def finite(text: str) -> float:
    """Read a finite number, NaN for anything else."""
    try:
        number = float(text)
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan

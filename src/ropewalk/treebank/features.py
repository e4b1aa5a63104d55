"""The FEATS column: converts between text such as `Case=Nom|Number=Plur` and a mapping."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

NONE = "_"


def features_of(text: str) -> dict[str, str]:
    """Return FEATS as a mapping of names to values; several values of a feature stay one text: `Sing,Plur`."""
    if text == NONE:
        return {}
    return {name: value for name, _, value in (part.partition("=") for part in text.split("|"))}


def features_text(features: Mapping[str, str]) -> str:
    """Return features as the text of FEATS, sorted by name regardless of case, as UD requires; `_` for none."""
    return "|".join(f"{name}={features[name]}" for name in sorted(features, key=str.lower)) or NONE

"""The FEATS column: `Case=Nom|Number=Plur` as a mapping, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

NONE = "_"


def features_of(text: str) -> dict[str, str]:
    """Read FEATS; several values of one feature stay one text, such as `Sing,Plur`."""
    if text == NONE:
        return {}
    return {name: value for name, _, value in (part.partition("=") for part in text.split("|"))}


def features_text(features: Mapping[str, str]) -> str:
    """Write FEATS, sorted as UD demands: by name, whether in capitals or not."""
    return "|".join(f"{name}={features[name]}" for name in sorted(features, key=str.lower)) or NONE

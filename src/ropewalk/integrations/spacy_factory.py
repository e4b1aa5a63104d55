"""How spaCy makes our component.

It loads this file whenever it loads any pipeline, so nothing of ours is loaded before a component is asked for.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, get_type_hints

from spacy.language import Language

from ropewalk.options import ParserOptions, spread

if TYPE_CHECKING:
    from ropewalk.integrations.spacy_component import Component


@Language.factory(
    "ropewalk",
    assigns=["token.head", "token.dep", "token.pos", "token.tag", "token.morph", "token.lemma", "token.is_sent_start"],
    default_config={"model": "en", "set_pos": True, "threads": 0, **asdict(ParserOptions(confidence=False))},
    default_score_weights={"dep_uas": 0.5, "dep_las": 0.5, "sents_f": 0.0, "pos_acc": None},
)
@partial(spread, annotations=get_type_hints(ParserOptions))
def make(  # noqa: PLR0913 - spaCy hands over name and configuration, all by their names
    *,
    nlp: Language,  # noqa: ARG001 - the name is spaCy's
    name: str,  # noqa: ARG001 - likewise
    model: str,
    set_pos: bool,
    threads: int,
    options: ParserOptions,
) -> Component:
    """Make the component from a pipeline's configuration, which has a key for each field of `ParserOptions`."""
    from ropewalk import pipeline
    from ropewalk.integrations.spacy_component import Component

    return Component(pipeline.load(model, options, threads=threads), set_pos=set_pos)

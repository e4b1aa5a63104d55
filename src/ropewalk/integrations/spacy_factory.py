"""How spaCy makes our component.

It loads this file whenever it loads any pipeline, so nothing of ours is loaded before a component is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spacy.language import Language

if TYPE_CHECKING:
    from ropewalk.integrations.spacy_component import Component


@Language.factory(
    "ropewalk",
    assigns=["token.head", "token.dep", "token.pos", "token.tag", "token.morph", "token.lemma", "token.is_sent_start"],
    default_config={"model": "en", "set_pos": True, "confidence": False, "threads": 0, "decoder": None, "repair": None},
    default_score_weights={"dep_uas": 0.5, "dep_las": 0.5, "sents_f": 0.0, "pos_acc": None},
)
def make(  # noqa: PLR0913 - spaCy hands over name and configuration, all by their names
    *,
    nlp: Language,  # noqa: ARG001 - the name is spaCy's
    name: str,  # noqa: ARG001 - likewise
    model: str,
    set_pos: bool,
    confidence: bool,
    threads: int,
    decoder: str | None,
    repair: str | None,
) -> Component:
    """Make the component from a pipeline's configuration."""
    from ropewalk import pipeline
    from ropewalk.integrations.spacy_component import Component

    parser = pipeline.load(model, threads=threads, confidence=confidence, decoder=decoder, repair=repair)
    return Component(parser, set_pos=set_pos)

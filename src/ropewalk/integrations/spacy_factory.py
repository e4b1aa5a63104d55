"""The factory of the spaCy component.

spaCy imports this file with any pipeline, so the component itself is imported only for pipelines that have it.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, get_type_hints

from spacy.language import Language

from ropewalk.errors import ConfigError
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
def make(  # noqa: PLR0913 - spaCy passes name and configuration as keywords
    *,
    nlp: Language,  # noqa: ARG001 - the name is spaCy's
    name: str,  # noqa: ARG001 - likewise
    model: str,
    set_pos: bool,
    threads: int,
    options: ParserOptions,
) -> Component:
    """Load `model` and build the spaCy component; the configuration also has a key for each field of `ParserOptions`.

    Raise a `ConfigError` if an option asks for graphs, which spaCy documents cannot store.
    """
    for field, is_set in (("graph_decoder", options.graph_decoder is not None), ("enhance", options.enhance)):
        if is_set:
            raise ConfigError("spaCy", field, "is set, and documents of spaCy have no graphs; leave it out")
    from ropewalk import pipeline
    from ropewalk.integrations.spacy_component import Component

    return Component(pipeline.load(model, options, threads=threads), set_pos=set_pos)

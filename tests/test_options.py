"""`ParserOptions`: whatever can be chosen about parsing can be chosen everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import Field, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, get_type_hints

import pytest
from typer.testing import CliRunner

from ropewalk.cli import app_of
from ropewalk.core.repair import POLICIES
from ropewalk.errors import ConfigError, MismatchError, OptionError
from ropewalk.models.description import DecodingOptions
from ropewalk.options import ParserOptions, overridden
from ropewalk.pipeline import load
from ropewalk.segmentation.segmenter import LINE_UNITS
from ropewalk.serving import Settings
from ropewalk.serving.computing import Computer

if TYPE_CHECKING:
    from collections.abc import Callable

FIELDS = {one.name: one for one in fields(ParserOptions)}
NO_COLUMN = {"tag_confidence"}  # tables of documents have no place for it


class Loaded(Exception):  # noqa: N818 - no error
    """Stands for a parser: no model is loaded."""

    options: ParserOptions


@pytest.fixture(autouse=True)
def no_models(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(_: object, options: ParserOptions, **__: object) -> None:
        raised = Loaded()
        raised.options = options
        raise raised

    for module in ("ropewalk.pipeline", "ropewalk.serving.computing"):
        monkeypatch.setattr(f"{module}.load", stop)
    monkeypatch.setattr("ropewalk.serving.run", lambda settings, **_: Computer.load(settings))


def other_value(field: Field[Any]) -> Any:  # noqa: ANN401 - of the field's type
    """Choose a value that is not the default."""
    kind = get_type_hints(ParserOptions)[field.name]
    if kind is bool:
        return not field.default
    if field.metadata["choices"]:
        return field.metadata["choices"][-1]
    if kind == str | None:
        return "UD_Invented-Ropes"
    return ("tree", "upos") if kind == Sequence[str] | None else field.metadata["low"]


def options_with(name: str, value: Any) -> ParserOptions:  # noqa: ANN401 - likewise
    return replace(ParserOptions(), **{name: value})


def arguments(name: str, value: Any) -> list[str]:  # noqa: ANN401 - likewise
    """Write a field for the command line."""
    option = name.replace("_", "-")
    if isinstance(value, bool):
        return [f"--{option}" if value else f"--no-{option}"]
    return [f"--{option}", ", ".join(reversed(value)) if isinstance(value, tuple) else str(value)]


def by_command(command: str, name: str, value: object) -> None:
    words = {"parse": ["She walks.", "--format", "json"], "corpus": ["a.txt", "-o", "out"], "serve": []}[command]
    done = CliRunner().invoke(app_of([command]), [command, *words, *arguments(name, value)])
    assert done.exception is not None, done.output
    raise done.exception


def by_spacy(name: str, value: object) -> None:
    spacy = pytest.importorskip("spacy")
    config = {"confidence": True, name: list(value) if isinstance(value, tuple) else value}  # by default it is False
    spacy.blank("en").add_pipe("ropewalk", config=config)


def by_table(name: str, value: object) -> None:
    pa = pytest.importorskip("pyarrow")
    from ropewalk.corpus import Annotate

    Annotate("en", options_with(name, value))(pa.table({"text": ["She walks."]}))


def by_driver(name: str, value: object) -> None:
    pytest.importorskip("pyarrow")
    from ropewalk.corpus import driver
    from ropewalk.corpus.options import Options

    driver.run(["a.txt"], "out", Options(parsing=options_with(name, value)))


def by_worker(name: str, value: object) -> None:
    pytest.importorskip("pyarrow")
    from ropewalk.corpus import shards
    from ropewalk.corpus.options import Options

    shards.warm("en", "ropewalk", Options(parsing=options_with(name, value)))


def by_server(name: str, value: object) -> None:
    Computer.load(Settings(parsing=options_with(name, value)))


PLACES: dict[str, Callable[[str, object], None]] = {
    "ropewalk parse": partial(by_command, "parse"),
    "ropewalk corpus": partial(by_command, "corpus"),
    "ropewalk serve": partial(by_command, "serve"),
    "spaCy": by_spacy,
    "server": by_server,
    "Annotate": by_table,
    "corpus runner": by_driver,
    "corpus worker": by_worker,
}
REFUSED = {("spaCy", "graph_decoder"), ("spaCy", "enhance")}  # documents of spaCy have no place for graphs
TABLES = {"Annotate", "corpus runner", "corpus worker", "ropewalk corpus"}


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("place", PLACES)
def test_every_place_takes_every_option(place: str, name: str) -> None:
    value = other_value(FIELDS[name])
    if (name in NO_COLUMN and place in TABLES) or (place, name) in REFUSED:
        with pytest.raises((OptionError, ConfigError, SystemExit)) as refused:
            PLACES[place](name, value)
        assert not isinstance(refused.value, SystemExit) or refused.value.code == 2
        return
    with pytest.raises(Loaded) as loaded:
        PLACES[place](name, value)
    assert loaded.value.options == options_with(name, value) != ParserOptions()


def test_the_choices_are_those_of_the_model() -> None:
    choices = {name: set(one.metadata["choices"]) for name, one in FIELDS.items() if one.metadata["choices"]}
    stored = {one.name: set(one.metadata.get("choices", ())) for one in fields(DecodingOptions)}
    assert choices.pop("each_line") == set(LINE_UNITS)
    assert choices == {name: stored[name] for name in choices}
    assert choices["repair"] == set(POLICIES)
    assert FIELDS.keys() - stored.keys() == {"each_line"}, "which is of the segmenter; the rest is of the decoder"


def test_every_option_is_explained() -> None:
    assert all(one.metadata["about"].endswith(".") for one in FIELDS.values())


def test_options_are_values() -> None:
    options = ParserOptions(columns=["tree"])
    assert options == ParserOptions(columns=("tree",))
    assert hash(options) == hash(ParserOptions(columns=("tree",)))
    assert overridden(options, decoder=None, confidence=False) == ParserOptions(columns=("tree",), confidence=False)
    with pytest.raises(ConfigError, match="put it into a list"):
        ParserOptions(columns="tree")
    with pytest.raises(MismatchError, match="columns"):
        ParserOptions(columns=[3])  # type: ignore[list-item]  # what is tested


def test_keywords_of_load_replace_options() -> None:
    given = ParserOptions(decoder="greedy", repair="root")
    with pytest.raises(MismatchError, match="options"):
        load("en", {"decoder": "greedy"})  # type: ignore[arg-type]  # what is tested
    parser = load("en", given, threads=1, decoder="exact", columns=["tree"])
    model: Any = parser._parts[0]
    assert (model.decoding.decoder, model.decoding.repair, model.decoding.columns) == ("exact", "root", ("tree",))

"""Models of enhanced graphs: training, decoding, export, and what comes out of them, on invented treebanks."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conftest import REPOSITORY
from program_tools import run
from ropewalk import conllu, deps
from ropewalk.core.columns import Column
from ropewalk.core.graphs import Graph, Graphs
from ropewalk.encodings import graphs as graph_encodings
from ropewalk.errors import ConfigError, MismatchError, TrainingError, UnknownNameError
from ropewalk.laboratory.experiment import Result, cells
from ropewalk.laboratory.graph_results import graph_scores, graph_table
from ropewalk.models.graph_decoding import graph_decoders
from ropewalk.models.onnx.model import load as load_exported
from ropewalk.pipeline import load as load_parser
from ropewalk.scoring.graph_scores import MEASURES, between_words, enhanced, measures, score
from ropewalk.training.config import from_mapping
from ropewalk.training.construction import graph_shape
from ropewalk.training.examples import label_set
from ropewalk.training.export import export
from ropewalk.training.trainable import Trainable, load
from ropewalk.training.training_run import train
from training_tools import bank_of, config_of, once, restored, write_bank

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

    from ropewalk.models.model import Model
    from ropewalk.training.config import Config
    from ropewalk.treebank.treebank import Treebank

EPOCHS = 30
pytestmark = pytest.mark.usefixtures("one_thread")


def enhanced_bank(sentences: int, seed: int = 1) -> Treebank:
    """Invent trees and graphs: relations get subtypes, some words a second head, some pairs a second relation."""
    bank = restored(bank_of(5 * sentences, longest=7, seed=seed), "optimal+head", most=sentences)
    random = np.random.default_rng(seed)
    graphs = bank.basic_graphs()
    arcs = []
    for sentence, length in enumerate(bank.lengths.tolist()):
        graph = graphs[sentence]
        own = {
            (head, word, relation if relation in {"root", "nsubj"} else f"{relation}:x")
            for (head, word), relation in zip(graph.arcs(), graph.relations, strict=True)
        }
        for word in range(1, length + 1):
            head = int(random.integers(1, length + 1))
            if random.random() < 0.3 and head != word:
                own |= {(head, word, "conj>nsubj")}
        first = min(own, key=lambda arc: arc[1])
        arcs.append((length, [*own, *([(first[0], first[1], "extra")] if first[0] and random.random() < 0.3 else [])]))
    made = Graphs.of(Graph(length, own) for length, own in arcs)
    return conllu.loads(deps.write(bank, made))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bank(tmp_path_factory.mktemp("graphs") / "thirty.conllu", enhanced_bank(30))


def graph_config(data: Path, encoding: str, epochs: int = EPOCHS, **options: Any) -> Config:  # noqa: ANN401 - options of several types
    config = config_of(data, epochs=epochs, graph={"encoding": encoding}, **options)
    return replace(config, training=replace(config.training, metric="graph_lm"))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Path:
    return once(tmp_path_factory, "graph-model", lambda home: train(graph_config(data, "optimal-nonprojective"), home))


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory, trained: Path) -> Path:
    return once(tmp_path_factory, "graph-export", lambda home: export(trained, home / "graphs")) / "graphs"


def arcs_of(bank: Treebank) -> list[tuple[str, ...]]:
    return [
        (name, *text.split("|"))
        for name, text in zip(bank.column("id").texts(), deps.texts(deps.read(bank)), strict=True)
    ]


def shares_of(bank: Treebank) -> npt.NDArray[np.float64]:
    assert bank.graphs is not None
    assert bank.graphs.probabilities is not None
    return bank.graphs.probabilities


def test_a_model_gives_back_the_graphs_that_it_learnt(trained: Path, data: Path) -> None:
    bank = conllu.read(data)
    assert (np.diff(deps.read(bank).node_arcs) > 1).any()
    model = load(trained)
    assert model.decoding.graph_decoder == "joint"
    for decoder in ("joint", "greedy", "arcs"):
        parsed = model.with_decoding(graph_decoder=decoder).parse(bank)
        assert arcs_of(parsed) == arcs_of(bank)
        assert (parsed.heads == bank.heads).all()
        assert all(value == 1.0 for value in measures(bank, parsed).values())


@pytest.mark.parametrize("encoding", ["biaffine", "four-bit"])
def test_other_ways_learn_the_same_graphs(encoding: str, data: Path, tmp_path: Path) -> None:
    bank = conllu.read(data)
    outcome = train(graph_config(data, encoding), tmp_path / "model")
    assert outcome.scores["dev"]["graph_lm"] > 0.95
    assert set(MEASURES) <= outcome.scores["dev"].keys()
    model = load(tmp_path / "model")
    if encoding == "biaffine":
        with pytest.raises(ConfigError, match="expected one of: joint, arcs"):
            model.with_decoding(graph_decoder="greedy")
        return
    labelled = model.with_decoding(graph_decoder="exact").parse(bank)
    assert model.labels.graphs is not None
    assert "no arc" in model.labels.graphs.relations
    assert "no arc" not in labelled.column("deps").names
    assert score(between_words(deps.read(bank)), deps.read(labelled))["labelled"].f1 > 0.95


def untrained(data: Path, encoding: str, seed: int) -> Model:
    config = graph_config(data, encoding, seed=seed)
    labels, vectors = label_set(config, conllu.read(data))
    return Trainable.create(config, labels, vectors).model()


@pytest.mark.parametrize(
    "encoding", ["optimal-nonprojective", "four-bit", "six-bit", "brackets", "relative", "biaffine"]
)
def test_every_graph_hangs_together_and_agrees_with_its_tree(encoding: str, data: Path) -> None:
    bank = conllu.read(data)
    for seed in range(3):
        model = untrained(data, encoding, seed)
        assert model.labels.graphs is not None
        for decoder in graph_decoders(model.description, model.labels.graphs):
            parsed = model.with_decoding(graph_decoder=decoder, confidence=True).parse(bank)
            graphs = parsed.graphs
            assert graphs is not None
            assert not list(deps.problems(parsed))
            for sentence in range(len(bank)):
                graph, tree = graphs[sentence], parsed.tree(sentence)
                reached = {0}
                while more := {word for head, word in graph.arcs() if head in reached} - reached:
                    reached |= more
                assert reached == set(range(len(tree) + 1))
                basic = dict(
                    zip(zip(tree.heads.tolist(), range(1, len(tree) + 1), strict=True), tree.relations, strict=True)
                )
                found: dict[tuple[int, int], list[str]] = {}
                for arc, relation in zip(graph.arcs(), graph.relations, strict=True):
                    found.setdefault(arc, []).append(relation)
                for arc in basic.keys() & found.keys():
                    assert any(one == basic[arc] or one.startswith(f"{basic[arc]}:") for one in found[arc])


def test_a_sentence_gets_the_same_graph_whatever_stands_beside_it(trained: Path) -> None:
    model = load(trained).with_decoding(confidence=True)
    strange = enhanced_bank(12, seed=7)
    together = model.parse(strange)
    alone = [model.parse(strange.select([number])) for number in range(len(strange))]
    assert together.column("deps").texts() == [text for one in alone for text in one.column("deps").texts()]
    np.testing.assert_allclose(shares_of(together), np.concatenate([shares_of(one) for one in alone]), atol=1e-5)


def test_graphs_are_left_out_if_they_are_not_asked_for(trained: Path, data: Path) -> None:
    model, bank = load(trained), conllu.read(data).with_columns({"deps": ["_"] * conllu.read(data).words})
    assert model.predicts == ("tree", "graph")
    trees = model.with_decoding(columns=("tree",)).parse(bank)
    assert trees.graphs is None
    assert trees.column("deps").names == ("_",)
    both = model.with_decoding(columns=("graph",)).parse(bank)
    assert both.graphs == model.parse(bank).graphs
    assert (both.heads == trees.heads).all()


def test_weights_are_found_on_known_graphs(data: Path) -> None:
    model = untrained(data, "optimal-nonprojective", 1)
    bank = conllu.read(data)
    with pytest.raises(ConfigError, match="expected 5"):
        model.with_decoding(graph_weights=(1.0,))
    fitted = model.calibrated(bank)
    assert fitted.decoding.graph_weights != model.decoding.graph_weights
    before, after = (score(deps.read(bank), deps.read(one.parse(bank)))["unlabelled"].f1 for one in (model, fitted))
    assert after >= before


def test_an_export_gives_the_same_graphs_without_torch(trained: Path, exported: Path) -> None:
    strange = enhanced_bank(12, seed=5)
    by_torch, by_onnx = (
        one.with_decoding(confidence=True).parse(strange) for one in (load(trained), load_exported(exported))
    )
    assert by_onnx.column("deps").texts() == by_torch.column("deps").texts()
    np.testing.assert_allclose(shares_of(by_onnx), shares_of(by_torch), atol=1e-3)


def test_graphs_in_documents_json_and_conllu(exported: Path, data: Path) -> None:
    bank = conllu.read(data)
    parser = load_parser(exported)
    document = parser.conllu(bank)
    graphs = deps.read(bank)
    for number, sentence in enumerate(document):
        assert sentence.graph == graphs[number]
        for word in sentence:
            texts = [f"{head.index}:{head.relation}" for head in word.heads]
            assert "|".join(texts) == bank.column("deps").texts()[bank.offsets[number].start + word.index - 1]
            assert all(head.word is None or head.word.index == int(head.index) for head in word.heads)
            assert all(head.probability is not None and 0 < head.probability <= 1 for head in word.heads)
    again = conllu.loads(document.to_conllu())
    assert again.column("deps").texts() == bank.column("deps").texts()
    words = [word for sentence in json.loads(json.dumps(document.to_json()))["sentences"] for word in sentence["words"]]
    listed = ["|".join(f"{one['head']}:{one['relation']}" for one in word["heads"]) for word in words]
    assert listed == bank.column("deps").texts()


def test_trees_alone_have_no_heads_in_json() -> None:
    bank = bank_of(2)
    word = next(iter(bank[0]))
    assert word.heads == ()
    assert "heads" not in bank[0].to_json()["words"][0]


def test_pictures_show_what_the_graph_adds(exported: Path, data: Path) -> None:
    sentence = next(one for one in load_parser(exported).conllu(data) if "conj>nsubj" in one.graph.relations)
    picture = str(sentence.draw())
    assert "conj>nsubj" in picture
    assert "only in the enhanced graph" in picture
    assert picture.index("conj>nsubj") > picture.index(sentence[0].text)  # below the words


def test_a_new_graph_takes_the_place_of_empty_nodes(trained: Path) -> None:
    text = (
        "# sent_id = 1\n"
        "1\tka\t_\t_\t_\t_\t0\troot\t0:root\t_\n"
        "2\tlo\t_\t_\t_\t_\t1\tconj\t2.1:nsubj\t_\n"
        "2.1\t_\t_\t_\t_\t_\t_\t_\t1:conj\t_\n"
        "3\tmi\t_\t_\t_\t_\t2\torphan\t2.1:obj\t_\n\n"
    )
    bank = conllu.loads(text)
    parsed = load(trained).parse(bank)
    written = conllu.dumps(parsed).decode()
    assert "\n2.1\t" not in written
    assert "# sent_id = 1\n" in written
    assert not deps.read(conllu.loads(written)).empty.any()
    assert deps.texts(between_words(deps.read(bank))) == ["0:root", "1:conj>nsubj", "1:conj>obj"]
    assert enhanced(bank, bank.with_graphs(between_words(deps.read(bank))))["ELAS"].f1 == 1.0
    assert not list(deps.problems(bank.with_graphs(between_words(deps.read(bank)))))


def test_treebanks_keep_their_graphs() -> None:
    bank = enhanced_bank(6)
    graphs = deps.read(bank)
    shares = np.linspace(0, 1, len(graphs.heads))
    given = replace(graphs, probabilities=shares)
    made = bank.with_columns({"deps": ["_"] * bank.words}).with_graphs(given)
    assert conllu.dumps(made) == conllu.dumps(bank)
    picked = made.select([4, 1])
    assert picked.graphs == graphs.select([4, 1])
    both = type(bank).concat([picked, made])
    assert both.graphs == Graphs.concat([graphs.select([4, 1]), graphs])
    assert both.graphs.probabilities is not None
    assert both.graphs.probabilities[-1] == 1.0
    assert made.with_columns({"deps": Column.of(["_"] * bank.words)}).graphs is None
    with pytest.raises(MismatchError, match="same words"):
        bank.with_graphs(graphs.select([0]))
    with pytest.raises(MismatchError, match="probabilities of shape"):
        replace(graphs, probabilities=shares[1:])


def test_what_cannot_be_trained_is_told(data: Path, tmp_path: Path) -> None:
    bare = write_bank(tmp_path / "bare.conllu", bank_of(3))
    with pytest.raises(TrainingError, match="no word has an arc in DEPS"):
        train(graph_config(bare, "optimal-nonprojective", 1), tmp_path / "a")
    with pytest.raises(UnknownNameError, match="encoding of graphs"):
        train(graph_config(data, "hexatags", 1), tmp_path / "b")
    with pytest.raises(ConfigError, match="weight"):
        from_mapping({"model": {"graph": {"weight": -1}}})


def test_a_grid_compares_every_way_to_graphs(trained: Path, data: Path) -> None:
    bank = conllu.read(data)
    scores = graph_scores(load(trained), bank)
    table = graph_table([Result("t", "e", "model", "exact", "dev", scores, 1.0)])
    rows = {row[4]: row[5:] for row in table.rows}
    assert rows["joint"] == rows["greedy"] == rows["arcs"] == (100,) * len(MEASURES)
    basic = measures(bank, bank.with_graphs(bank.basic_graphs()))
    assert rows["the basic tree copied"] == tuple(100 * value for value in basic.values())
    assert basic["elas"] < 1
    assert len(rows) == 6
    assert graph_scores(untrained(data, "", 1), bank) == {}
    assert not graph_table([Result("t", "e", "model", "exact", "dev", {"las": 1.0}, 1.0)]).rows


@pytest.mark.parametrize("name", ["grid-graphs-ewt.toml", "grid-graphs-tamil.toml"])
def test_the_grids_of_the_repository_are_in_order(name: str) -> None:
    planned = cells(REPOSITORY / "configs" / name)
    shapes = [graph_shape(cell.config.model) for cell in planned]
    assert sum(not shape.labels for shape in shapes) == 1  # the biaffine graph parser
    assert all(shape.arcs for shape in shapes)
    assert all(cell.config.model.arc_weight == 1 and cell.config.training.metric == "elas" for cell in planned)
    for cell in planned:
        if graph_shape(cell.config.model).labels:
            graph_encodings.get(cell.config.model.graph.encoding)


def test_the_commands_know_models_of_graphs(exported: Path, data: Path, tmp_path: Path) -> None:
    done = run("evaluate", "--graphs", data, "-m", exported, "--format", "csv")
    assert done.returncode == 0
    assert "ELAS" in done.stdout
    by_arcs = run("evaluate", "--graphs", data, "-m", exported, "--format", "csv", "--graph-decoder", "arcs")
    assert by_arcs.returncode == 0, by_arcs.stderr
    assert run("evaluate", data, "-m", exported, "--graph-decoder", "arcs").returncode == 2
    refused = run("parse", "-m", "en", data, "--graph-decoder", "arcs")
    assert refused.returncode == 1
    assert "en predicts no graphs" in refused.stderr
    assert run("evaluate", "--graphs", data, "-m", "en").returncode == 2
    done = run("parse", "-m", exported, data, "-o", tmp_path / "out.conllu")
    assert done.returncode == 0
    assert conllu.read(tmp_path / "out.conllu").column("deps").texts() == conllu.read(data).column("deps").texts()

"""Training, predicting and experimenting as people do it: by command."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from program_tools import run_bytes, run_in_terminal
from ropewalk import conllu
from ropewalk.cli.train import every
from ropewalk.scoring.attachment import score
from ropewalk.training.loop import Progress
from training_tools import bank_of, restored, write_bank

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

SMALL = """
[data]
train = "{data}"
dev = "{data}"
[model]
encoding = "optimal"
dropout = 0.0
hidden = 64
[model.encoder]
kind = "bilstm"
hidden = 64
depth = 1
dropout = 0.0
least_count = 1
[training]
epochs = 14
batch = 20
encoder_rate = 0.01
head_rate = 0.01
device = "cpu"
threads = 1
"""


def run(*words: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return run_bytes(*words, stdin=stdin, heavy=True, HF_HUB_OFFLINE="1")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a treebank, a configuration and a model trained by it."""
    place = tmp_path_factory.mktemp("home")
    data = write_bank(place / "data.conllu", restored(bank_of(250), "optimal"))
    (place / "small.toml").write_text(SMALL.format(data=data.as_posix()), encoding="utf-8")
    done = run("train", place / "small.toml", "-o", place / "model", "--set", "seed=3")
    assert done.returncode == 0, done.stderr.decode()
    assert b"epoch 14/14" in done.stderr
    return place


def test_parse_puts_trees_over_words_and_changes_nothing_else(home: Path) -> None:
    gold = conllu.read(home / "data.conllu")
    raw = (home / "data.conllu").read_bytes()
    text = raw.replace(b"1\t", b"# a comment\n1-2\tzusammen\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n1\t", 1)
    blank = b"\n".join(
        b"\t".join([*line.split(b"\t")[:6], b"_", b"_", *line.split(b"\t")[8:]]) if b"\t" in line else line
        for line in text.split(b"\n")
    )
    done = run("parse", "-m", home / "model", "--input", "conllu", "--no-confidence", "-", stdin=blank)
    assert done.returncode == 0, done.stderr.decode()
    assert score(gold, conllu.loads(done.stdout)).las > 0.99
    generator, _, rest = done.stdout.partition(b"\n")
    assert generator.startswith(b"# generator = ropewalk ")
    changed = [
        (ours, theirs)
        for ours, theirs in zip(blank.split(b"\n"), rest.split(b"\n"), strict=True)
        if ours.split(b"\t")[:6] + ours.split(b"\t")[8:] != theirs.split(b"\t")[:6] + theirs.split(b"\t")[8:]
    ]
    assert not changed
    options = ("-m", home / "model", "--decoder", "greedy")
    greedy = run("parse", *options, home / "data.conllu", "-o", home / "greedy.conllu")
    assert greedy.returncode == 0, greedy.stderr.decode()
    assert score(gold, conllu.read(home / "greedy.conllu")).las > 0.99


def test_failures_are_one_line_that_says_what_to_do(home: Path) -> None:
    for words, said in (
        (("train", home / "small.toml", "-o", home / "model"), b"--resume"),
        (("train", home / "small.toml", "-o", home / "x", "--set", "model.encodng=a"), b"did you mean encoding?"),
        (("train", home / "small.toml", "-o", home / "x", "--set", "training.threads=99999"), b"from 0 to 256"),
        (("train", home / "small.toml", "-o", home / "x", "--set", "training.betas=[2,3]"), b"from 0 to 0.99"),
        (("build", "--train", home / "data.conllu", "-o", home / "x", "--threads", 99999), b"from 0 to 256"),
        (("parse", "-m", home / "nowhere", "x"), b"No installed model or folder is named"),
        (("parse", "-m", home, "x"), b"without config.json"),
    ):
        done = run(*words)
        assert done.returncode == 1
        assert done.stderr.startswith(b"ropewalk: error: ")
        assert said in done.stderr
        assert done.stderr.count(b"\n") == 1


def test_an_experiment_writes_its_tables_and_does_nothing_twice(home: Path) -> None:
    grid = home / "grid.toml"
    data = (home / "data.conllu").as_posix()
    grid.write_text(
        'config = "small.toml"\n'
        'encodings = ["optimal", {name = "arcs", encoding = "optimal", arc_weight = 1, decoders = ["joint"]}, '
        '"biaffine"]\n'
        'decoders = ["exact", "greedy"]\n'
        'set = ["training.epochs=2"]\n'
        '[encoders.small]\nkind = "bilstm"\n'
        f'[treebanks.Invented]\ntrain = "{data}"\ndev = "{data}"\ntraining = {{epochs = 1}}\n',
        encoding="utf-8",
    )
    done = run("experiment", grid, "-o", home / "grid", "--columns", "encoding,decoder,las")
    assert done.returncode == 0, done.stderr.decode()
    assert b"note: no table" not in done.stderr
    latex = (home / "grid" / "details.tex").read_text(encoding="utf-8")
    assert r"\begin{tabular}{llr}" in latex
    assert r"\label{tab:every-run}" in latex
    assert r"\textbf{" in (home / "grid" / "summary.tex").read_text(encoding="utf-8")
    rows = (home / "grid" / "details.csv").read_text(encoding="utf-8").splitlines()
    assert [[row.split(",")[column] for column in (1, 3, 4)] for row in rows[1:]] == [
        ["dev", "optimal", "exact"],
        ["dev", "optimal", '"greedy'],  # with the repair behind a comma
        ["dev", "arcs", "joint"],
        ["dev", "biaffine", "spanning tree"],
    ]
    assert "Invented LAS" in (home / "grid" / "summary.md").read_text(encoding="utf-8")
    assert {file.suffix for file in (home / "grid").glob("pareto-Invented.*")} == {".svg", ".png"}
    weights = home / "grid" / "Invented" / "small" / "optimal" / "model.safetensors"
    written = weights.stat().st_mtime_ns
    again = run("experiment", grid, "-o", home / "grid", "--columns", "encoding,lass")
    assert again.returncode == 0, again.stderr.decode()
    assert b"note: no table has the column 'lass'" in again.stderr
    assert weights.stat().st_mtime_ns == written
    assert b"epoch" not in again.stderr
    assert (home / "grid" / "details.csv").read_text(encoding="utf-8").splitlines() == rows
    changed = run("experiment", grid, "-o", home / "grid", "--set", "model.hidden=32")
    assert changed.returncode == 1
    assert b"'Invented, small, optimal' was made with another configuration: model.hidden was 64" in changed.stderr
    assert b"run 1 of" not in changed.stderr
    absent = grid.read_text(encoding="utf-8").replace(data, f"{data}.absent")
    grid.write_text(absent, encoding="utf-8")
    nothing = run("experiment", grid, "-o", home / "nothing")
    assert nothing.returncode == 1
    assert nothing.stderr.count(b"note: left out") == 3
    assert b"every run was left out" in nothing.stderr.splitlines()[-1]


def test_a_grid_with_an_unknown_name_is_refused(home: Path) -> None:
    grid = home / "bad.toml"
    grid.write_text('config = "small.toml"\nencoding = ["optimal"]\n', encoding="utf-8")
    done = run("experiment", grid, "-o", home / "bad")
    assert done.returncode == 1
    assert b"encoding is unknown" in done.stderr


def test_parse_says_how_probable_its_trees_are(home: Path) -> None:
    done = run("parse", "-m", home / "model", home / "data.conllu")
    assert done.returncode == 0, done.stderr.decode()
    parsed = conllu.loads(done.stdout)
    plain = conllu.loads(run("parse", "-m", home / "model", home / "data.conllu", "--no-confidence").stdout)
    assert parsed.heads.tolist() == plain.heads.tolist()
    assert plain.column("misc").texts() == ["_"] * plain.words
    arcs = [float(text.removeprefix("Confidence=")) for text in parsed.column("misc").texts()]
    trees = [sentence.probability or 0.0 for sentence in parsed]
    assert min(trees) > 0
    assert all(0.0 <= arc <= 1.0 for arc in arcs)
    for number, tree in enumerate(trees):  # a tree is never surer than the least sure of its arcs
        assert tree <= min(arcs[parsed.offsets[number]]) + 1e-4
    assert sum(arcs) / len(arcs) > 0.9
    greedy = run("parse", "-m", home / "model", home / "data.conllu", "--decoder", "greedy")
    assert b"onfidence" not in greedy.stdout, "only trees of the exact decoder have probabilities"
    joint = run("parse", "-m", home / "model", home / "data.conllu", "--decoder", "joint")
    assert joint.returncode == 1
    assert b"needs the scores of arcs" in joint.stderr


def test_predict_names_parse(home: Path) -> None:
    done = run("predict", home / "model", home / "data.conllu", "out.conllu", "--confidence")
    assert done.returncode == 2
    assert b"ropewalk parse -m MODEL" in done.stderr


def test_a_trained_model_is_scored_by_evaluate(home: Path) -> None:
    done = run("evaluate", home / "data.conllu", "-m", home / "model", "--format", "json")
    assert done.returncode == 0, done.stderr.decode()
    assert json.loads(done.stdout)["rows"][0]["uas"] > 99
    assert run("evaluate", home / "data.conllu").returncode == 2


def test_evaluate_decodes_and_repairs_as_parse_does(home: Path) -> None:
    unseen = write_bank(home / "unseen.conllu", bank_of(80, seed=8))
    found = set()
    for options in (["greedy", "--repair", "nearest"], ["greedy", "--repair", "root"], ["exact"]):
        at_once = run("evaluate", unseen, "-m", home / "model", "--format", "json", "--decoder", *options)
        assert at_once.returncode == 0, at_once.stderr.decode()
        parsed = home / "unseen-parsed.conllu"
        assert run("parse", "-m", home / "model", unseen, "-o", parsed, "--decoder", *options).returncode == 0
        assert at_once.stdout == run("evaluate", unseen, parsed, "--format", "json").stdout
        found.add(at_once.stdout)
    assert len(found) == 3
    assert run("evaluate", unseen, unseen, "--repair", "root").returncode == 2


def test_a_log_gets_a_line_every_minute(capsys: pytest.CaptureFixture[str]) -> None:
    now = 0.0
    show = every(60, lambda: now)
    for step in range(1, 13):  # every 20 seconds
        now = 20.0 * step
        show(Progress(1, 2, 10 * step, step / 24, 0.5, 1000.0))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 4
    assert lines[0] == "ropewalk: epoch 1/2, step 30: loss 0.5000, 1,000 words/s, about 7 min remain"
    show(Progress(1, 2, 120, 0.5, 0.4, 1000.0, {"uas": 0.5, "las": 0.4}, ended=True))
    assert capsys.readouterr().err.startswith("ropewalk: epoch 1/2: loss 0.4000, dev UAS 50.00")


def test_lines_stand_above_the_bar_and_what_runs_at_the_end_is_named(home: Path) -> None:
    changes = (word for text in ("training.epochs=3", f"data.test={home / 'data.conllu'}") for word in ("--set", text))
    shown = run_in_terminal("train", home / "small.toml", "-o", home / "watched", *changes, heavy=True)
    lines = [line.rpartition("\x1b[2K")[2] for line in shown.splitlines() if "ropewalk: epoch" in line]
    assert [line[:20] for line in lines] == [f"ropewalk: epoch {epoch}/3:" for epoch in (1, 2, 3)]
    assert "calibrating probabilities on dev" in shown
    assert "scoring test" in shown
    logged = run("train", home / "small.toml", "-o", home / "logged", "--set", "training.epochs=1")
    assert b"ropewalk: calibrating probabilities on dev\n" in logged.stderr


def test_data_files_are_opened_before_a_run_begins(home: Path) -> None:
    model = home / "mistyped"
    config = (home / "small.toml", "-o", model, "--set", "training.epochs=1")
    done = run("train", *config, "--set", f"data.test={home / 'tset.conllu'}")
    assert (done.returncode, b"epoch" in done.stderr, b"tset.conllu" in done.stderr) == (1, False, True)
    assert not model.exists()
    assert run("train", *config).returncode == 0
    done = run("train", *config, "--resume", "--set", f"data.test={home / 'data.conllu'}")
    assert done.returncode == 0, done.stderr.decode()
    assert b"test: UAS" in done.stderr
    assert "test" in (model / "README.md").read_text(encoding="utf-8")


def test_a_segmenter_is_not_trained_for_nothing(home: Path) -> None:
    (home / "segmenter.toml").write_text(f'[data]\ntrain = "{home / "data.conllu"}"\ndev = "{home / "data.conllu"}"\n')
    done = run(
        "train-segmenter", home / "segmenter.toml", "-o", home / "cut", "--set", f"data.test={home / 'no.conllu'}"
    )
    assert (done.returncode, b"epoch" in done.stderr, b"no.conllu" in done.stderr) == (1, False, True)

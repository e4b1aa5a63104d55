"""CoNLL-X in and out, and punctuation left out by tags or words, on sentences invented in the style of Penn."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ropewalk import conllu
from ropewalk.errors import FormatError
from ropewalk.formats import conllx
from ropewalk.scoring.attachment import score

if TYPE_CHECKING:
    from pathlib import Path

    from ropewalk.scoring.attachment import PunctuationBy

PENN = """\
1\tMills\t_\tNNS\tNNS\t_\t2\tnsubj\t_\t_
2\tspin\t_\tVBP\tVBP\t_\t0\troot\t_\t_
3\t``\t_\t``\t``\t_\t4\tpunct\t_\t_
4\trope\t_\tNN\tNN\t_\t2\tdobj\t2\tdobj
5\t''\t_\t''\t''\t_\t4\tpunct\t_\t_
6\t-LRB-\t_\t-LRB-\t-LRB-\t_\t7\tdep\t_\t_
7\t%\t_\tNN\tNN\t_\t4\tdep\t_\t_
8\t.\t_\t.\t.\t_\t2\tpunct\t_\t_

1\tQuietly\t_\tRB\tRB\t_\t0\troot\t_\t_
2\t--\t_\t:\t:\t_\t1\tpunct\t_\t_

"""


def test_a_file_comes_back_byte_for_byte(tmp_path: Path) -> None:
    (tmp_path / "some name.conllx").write_text(PENN, encoding="utf-8")
    bank = conllu.read(tmp_path / "some name.conllx", trees="required")
    assert bank[0].forms[:2] == ("Mills", "spin")
    assert bank.column("xpos").texts()[2:5] == ["``", "NN", "''"]
    assert bank.heads.tolist() == [2, 0, 4, 2, 4, 7, 4, 2, 0, 1]
    conllu.write(tmp_path / "again.conll.gz", bank)
    assert gzip.decompress((tmp_path / "again.conll.gz").read_bytes()).decode() == PENN
    conllu.write(tmp_path / "as.conllu", bank)
    assert "PHead=2|PDeprel=dobj" in (tmp_path / "as.conllu").read_text(encoding="utf-8")
    assert conllu.read(tmp_path / "as.conllu").trees() == bank.trees()


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_pieces_returns_missing_columns_and_a_missing_end_are_read(size: int) -> None:
    lines = [line.rsplit("\t", 2)[0] for line in PENN.splitlines()]
    text = "\r\n".join(lines).rstrip().encode()
    blocks = [text[at : at + size] for at in range(0, len(text), size)]
    found = b"".join(conllx.to_conllu(blocks))
    assert conllu.loads(found).heads.tolist() == [2, 0, 4, 2, 4, 7, 4, 2, 0, 1]
    assert conllx.from_conllu(found).decode() == PENN.replace("\t2\tdobj\t2\tdobj", "\t2\tdobj\t_\t_")


def test_what_conll_x_cannot_hold_is_left_out() -> None:
    words = "1\tn\t_\tX\t_\t_\t0\troot\t_\t_\n2\ta\t_\tX\t_\t_\t1\tdep\t_\t_\n\n"
    text = "# text = no\n1-2\tna\t_\t_\t_\t_\t_\t_\t_\t_\n" + words
    assert conllx.from_conllu(text.encode()).decode() == words


def test_an_error_is_named_by_its_own_line(tmp_path: Path) -> None:
    (tmp_path / "bad.conllx").write_text(PENN.replace("\t4\tdep", "\t44\tdep"), encoding="utf-8")
    with pytest.raises(FormatError, match=r"bad\.conllx:7"):
        conllu.read(tmp_path / "bad.conllx")


def test_punctuation_is_left_out_by_tags_or_words() -> None:
    gold = conllu.loads(b"".join(conllx.to_conllu([PENN.encode()])))
    heads = np.array([2, 0, 2, 2, 2, 4, 4, 4, 0, 1], dtype=np.int32)  # 3, 5, 6 and 8 of the first sentence are wrong
    wrong = gold.with_trees(heads, gold.relations)
    counts: dict[PunctuationBy, tuple[int, int]] = {"relation": (6, 5), "xpos": (6, 5), "form": (6, 4)}
    assert score(gold, wrong).words.tolist() == [8, 2]
    for by, expected in counts.items():
        found = score(gold, wrong, punctuation=False, punctuation_by=by)
        assert (int(found.words.sum()), int(found.heads.sum())) == expected, by
    listed = score(gold, wrong, punctuation=False, punctuation_by="xpos", punctuation_list=["-LRB-", "."])
    assert (listed.words.tolist(), listed.heads.tolist()) == ([6, 2], [4, 2])
    by_word = score(gold, wrong, punctuation=False, punctuation_by="form", punctuation_list=["--"])
    assert by_word.words.tolist() == [8, 1]

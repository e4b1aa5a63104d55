"""The words, empty nodes and enhanced arcs (DEPS) of CoNLL-U, in one pass over its bytes."""

from __future__ import annotations

from dataclasses import dataclass

from ropewalk.kernels import Ints

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

if not cython.compiled:  # compiled, the .pxd includes them
    from ropewalk.kernels.codes import *
    from ropewalk.kernels.values import ArcBuffer  # noqa: TC001 - compiled, it is in the .pxd


# The indices of `counts`.
NODES = 0
ARCS = 1
PROBLEMS = 2


@dataclass(repr=False, eq=False)
class NodeBuffer:
    """The nodes that `scan` finds: those of sentence s are at `offsets[s]:offsets[s+1]`.

    A row of `fields` holds the start of a node's line, then the start and stop of its FORM and of its DEPS. `minors`
    has the number after the dot in each node's ID, 0 for words.
    """

    fields: Ints
    minors: Ints
    offsets: Ints


@dataclass(repr=False, eq=False)
class DepsBuffer:
    """The further output of `scan`, and its workspaces.

    A row of `relations` holds the start and stop of an arc's relation. A row of `problems` holds a kind, the start of
    the line, and the start and stop of the span at fault; such an arc is left out. `counts` receives the numbers of
    nodes, arcs and problems.

    `positions` and `after` are workspaces for one sentence: the node of word m, and the number of empty nodes after it.
    """

    relations: Ints
    problems: Ints
    counts: Ints
    positions: Ints
    after: Ints


def scan(raw: Ints, sentences: Ints, nodes: NodeBuffer, found: ArcBuffer, out: DepsBuffer) -> None:
    """Find the nodes of every sentence, which are its words and empty nodes, and the enhanced arcs into them.

    `raw` holds sentences without faults; sentence s is `raw[sentences[s]:sentences[s+1]]`. Arcs are in the order of the
    file. Their heads and dependents count nodes from 1 within the sentence; 0 is the root.
    """
    with cython.nogil:
        for k in range(3):
            out.counts[k] = 0
        nodes.offsets[0] = 0
        found.offsets[0] = 0
        for s in range(sentences.shape[0] - 1):
            words = _scan_nodes(raw, sentences[s], sentences[s + 1], nodes, out)
            _scan_items(raw, nodes.offsets[s], words, nodes, found, out)
            nodes.offsets[s + 1] = out.counts[NODES]
            found.offsets[s + 1] = out.counts[ARCS]


def _report(out: DepsBuffer, code: int, line: int, start: int, stop: int) -> None:
    """Append a problem: its code, the start of its line, and the span at fault."""
    wrong = out.counts[PROBLEMS]
    out.problems[wrong, 0] = code
    out.problems[wrong, 1] = line
    out.problems[wrong, 2] = start
    out.problems[wrong, 3] = stop
    out.counts[PROBLEMS] = wrong + 1


def _scan_nodes(raw: Ints, i: int, end: int, nodes: NodeBuffer, out: DepsBuffer) -> int:
    """Append the nodes of the sentence `raw[i:end]`; return the number of its words.

    `positions` and `after` describe its words: their indices among the nodes, and how many empty nodes follow them.
    """
    n = out.counts[NODES]
    first = n
    words = 0
    out.positions[0] = 0
    out.after[0] = 0
    while i < end:
        # find the columns FORM and DEPS
        start = i
        column = 0
        form = start
        form_stop = start
        deps = start
        deps_stop = start
        while i < end and raw[i] != NEWLINE:
            if raw[i] == TAB:
                column += 1
                if column == FORM:
                    form = i + 1
                elif column == FORM + 1:
                    form_stop = i
                elif column == DEPS:
                    deps = i + 1
                elif column == DEPS + 1:
                    deps_stop = i
            i += 1
        i += 1
        if raw[start] == HASH or column < COLUMNS - 1:
            continue
        # read the ID: a word, a multiword token or an empty node
        minor = 0
        kind = 0
        for j in range(start, form - 1):
            if raw[j] == HYPHEN or raw[j] == DOT:
                kind = raw[j]
            elif kind:
                minor = 10 * minor + raw[j] - ZERO
        if kind == HYPHEN:
            if deps_stop - deps != 1 or raw[deps] != UNDERSCORE:
                _report(out, DEPS_MULTIWORD, start, deps, deps_stop)
            continue
        nodes.fields[n, 0] = start
        nodes.fields[n, 1] = form
        nodes.fields[n, 2] = form_stop
        nodes.fields[n, 3] = deps
        nodes.fields[n, 4] = deps_stop
        nodes.minors[n] = minor
        n += 1
        if kind == 0:
            words += 1
            out.positions[words] = n - first
            out.after[words] = 0
        else:
            out.after[words] += 1
    out.counts[NODES] = n
    return words


def _scan_items(raw: Ints, first: int, words: int, nodes: NodeBuffer, found: ArcBuffer, out: DepsBuffer) -> None:
    """Append the arcs of the nodes from `first` on: the items HEAD:RELATION, separated by bars, of a sentence."""
    arcs = out.counts[ARCS]
    for node in range(first, out.counts[NODES]):
        j = nodes.fields[node, 3]
        stop = nodes.fields[node, 4]
        if stop - j == 1 and raw[j] == UNDERSCORE:
            continue
        while j <= stop:
            # read the head: the number of a word, or that of an empty node with a dot
            item = j
            major = 0
            minor = 0
            digits = 0
            dotted = 0
            bad = 0
            while j < stop and raw[j] != COLON and raw[j] != BAR:
                if raw[j] == DOT and dotted == 0 and digits > 0:
                    dotted = 1
                    digits = 0
                elif raw[j] < ZERO or raw[j] > NINE or (digits == 1 and raw[j - 1] == ZERO):
                    bad = 1
                elif dotted:
                    minor = min(10 * minor + raw[j] - ZERO, HUGE)
                    digits += 1
                else:
                    major = min(10 * major + raw[j] - ZERO, HUGE)
                    digits += 1
                j += 1
            if digits == 0 or j >= stop or raw[j] != COLON or (dotted and minor == 0):
                bad = 1
            # find the end of the relation
            relation = j + 1
            while j < stop and raw[j] != BAR:
                if raw[j] == SPACE:
                    bad = 1
                j += 1
            code = 0
            head = 0
            if bad or j <= relation:
                code = DEPS_FORM
            elif major > words or minor > out.after[major]:
                code = DEPS_HEAD
            else:
                head = out.positions[major] + minor
                if head == node - first + 1:
                    code = DEPS_SELF
            if code:
                _report(out, code, nodes.fields[node, 0], item, j)
            else:
                found.heads[arcs] = head
                found.dependents[arcs] = node - first + 1
                out.relations[arcs, 0] = relation
                out.relations[arcs, 1] = j
                arcs += 1
            j += 1
    out.counts[ARCS] = arcs

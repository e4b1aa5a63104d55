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
        n = 0
        arcs = 0
        wrong = 0
        nodes.offsets[0] = 0
        found.offsets[0] = 0
        for s in range(sentences.shape[0] - 1):
            i = sentences[s]
            end = sentences[s + 1]
            first = n
            words = 0
            out.positions[0] = 0
            out.after[0] = 0
            while i < end:  # first pass: nodes
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
                major = 0
                minor = 0
                kind = 0
                for j in range(start, form - 1):
                    if raw[j] == HYPHEN or raw[j] == DOT:
                        kind = raw[j]
                    elif kind == 0:
                        major = 10 * major + raw[j] - ZERO
                    else:
                        minor = 10 * minor + raw[j] - ZERO
                if kind == HYPHEN:
                    if deps_stop - deps != 1 or raw[deps] != UNDERSCORE:
                        out.problems[wrong, 0] = DEPS_MULTIWORD
                        out.problems[wrong, 1] = start
                        out.problems[wrong, 2] = deps
                        out.problems[wrong, 3] = deps_stop
                        wrong += 1
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
            for node in range(first, n):  # second pass: the items HEAD:RELATION of each node, separated by bars
                j = nodes.fields[node, 3]
                stop = nodes.fields[node, 4]
                if stop - j == 1 and raw[j] == UNDERSCORE:
                    continue
                while j <= stop:
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
                        out.problems[wrong, 0] = code
                        out.problems[wrong, 1] = nodes.fields[node, 0]
                        out.problems[wrong, 2] = item
                        out.problems[wrong, 3] = j
                        wrong += 1
                    else:
                        found.heads[arcs] = head
                        found.dependents[arcs] = node - first + 1
                        out.relations[arcs, 0] = relation
                        out.relations[arcs, 1] = j
                        arcs += 1
                    j += 1
            nodes.offsets[s + 1] = n
            found.offsets[s + 1] = arcs
        out.counts[0] = n
        out.counts[1] = arcs
        out.counts[2] = wrong

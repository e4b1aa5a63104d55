"""One pass over the bytes of CoNLL-U that finds words, empty nodes and the arcs that their DEPS give."""

from __future__ import annotations

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

from ropewalk.kernels.codes import DEPS_FORM, DEPS_HEAD, DEPS_MULTIWORD, DEPS_SELF

Ints = memoryview


def scan(
    raw: Ints,
    sentences: Ints,
    fields: Ints,
    majors: Ints,
    minors: Ints,
    offsets: Ints,
    heads: Ints,
    dependents: Ints,
    relations: Ints,
    arc_offsets: Ints,
    problems: Ints,
    counts: Ints,
    places: Ints,
    after: Ints,
) -> None:
    """Find the nodes of every sentence, which are its words and its empty nodes, and the arcs into them.

    `raw` holds sentences without faults, sentence s at `sentences[s]:sentences[s+1]`. A row of `fields` is where a
    node's line begins, then the start and stop of its FORM and of its DEPS. Node `majors.minors` is a word where
    the latter is 0. Arcs come in the order of the file: head and dependent count from 1 within the sentence, 0 is the
    root, and a row of `relations` is where the relation starts and stops. A row of `problems` is a kind, the place of
    the line and the stretch at fault; such an arc is left out. `counts` receives the numbers of nodes, arcs and
    problems. `places[m]` is the node of word m, and `after[m]` counts the empty nodes behind it.
    """
    with cython.nogil:
        n = 0
        arcs = 0
        wrong = 0
        offsets[0] = 0
        arc_offsets[0] = 0
        for s in range(sentences.shape[0] - 1):
            i = sentences[s]
            end = sentences[s + 1]
            first = n
            words = 0
            places[0] = 0
            after[0] = 0
            while i < end:
                start = i
                column = 0
                form = start
                form_stop = start
                deps = start
                deps_stop = start
                while i < end and raw[i] != 10:
                    if raw[i] == 9:
                        column += 1
                        if column == 1:
                            form = i + 1
                        elif column == 2:
                            form_stop = i
                        elif column == 8:
                            deps = i + 1
                        elif column == 9:
                            deps_stop = i
                    i += 1
                i += 1
                if raw[start] == 35 or column < 9:
                    continue
                major = 0
                minor = 0
                kind = 0
                for j in range(start, form - 1):
                    if raw[j] == 45 or raw[j] == 46:
                        kind = raw[j]
                    elif kind == 0:
                        major = 10 * major + raw[j] - 48
                    else:
                        minor = 10 * minor + raw[j] - 48
                if kind == 45:
                    if deps_stop - deps != 1 or raw[deps] != 95:
                        problems[wrong, 0] = DEPS_MULTIWORD
                        problems[wrong, 1] = start
                        problems[wrong, 2] = deps
                        problems[wrong, 3] = deps_stop
                        wrong += 1
                    continue
                fields[n, 0] = start
                fields[n, 1] = form
                fields[n, 2] = form_stop
                fields[n, 3] = deps
                fields[n, 4] = deps_stop
                majors[n] = major
                minors[n] = minor
                n += 1
                if kind == 0:
                    words += 1
                    places[words] = n - first
                    after[words] = 0
                else:
                    after[words] += 1
            for node in range(first, n):
                j = fields[node, 3]
                stop = fields[node, 4]
                if stop - j == 1 and raw[j] == 95:
                    continue
                while j <= stop:
                    item = j
                    major = 0
                    minor = 0
                    digits = 0
                    dotted = 0
                    bad = 0
                    while j < stop and raw[j] != 58 and raw[j] != 124:
                        if raw[j] == 46 and dotted == 0 and digits > 0:
                            dotted = 1
                            digits = 0
                        elif raw[j] < 48 or raw[j] > 57 or (digits == 1 and raw[j - 1] == 48):
                            bad = 1
                        elif dotted:
                            minor = min(10 * minor + raw[j] - 48, 1000000000)
                            digits += 1
                        else:
                            major = min(10 * major + raw[j] - 48, 1000000000)
                            digits += 1
                        j += 1
                    if digits == 0 or j >= stop or raw[j] != 58 or (dotted and minor == 0):
                        bad = 1
                    relation = j + 1
                    while j < stop and raw[j] != 124:
                        if raw[j] == 32:
                            bad = 1
                        j += 1
                    code = 0
                    head = 0
                    if bad or j <= relation:
                        code = DEPS_FORM
                    elif major > words or minor > after[major]:
                        code = DEPS_HEAD
                    else:
                        head = places[major] + minor
                        if head == node - first + 1:
                            code = DEPS_SELF
                    if code:
                        problems[wrong, 0] = code
                        problems[wrong, 1] = fields[node, 0]
                        problems[wrong, 2] = item
                        problems[wrong, 3] = j
                        wrong += 1
                    else:
                        heads[arcs] = head
                        dependents[arcs] = node - first + 1
                        relations[arcs, 0] = relation
                        relations[arcs, 1] = j
                        arcs += 1
                    j += 1
            offsets[s + 1] = n
            arc_offsets[s + 1] = arcs
        counts[0] = n
        counts[1] = arcs
        counts[2] = wrong

"""Search for patterns in trees and graphs, with backtracking over levels. Each level is a word of the pattern.

A word is represented by its index in the treebank. The levels of the pattern itself come first. The levels of its parts
that are counted, or that must not match, come after them.
"""

from __future__ import annotations

from dataclasses import dataclass

from ropewalk.kernels import new_ints, several_ints

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

if not cython.compiled:  # compiled, the .pxd includes them
    from ropewalk.kernels.codes import *


Ints = memoryview


class SearchedTrees:
    """The trees of all sentences, with an index for searches. Words are indices in the treebank, -1 for none.

    `heads[w]` is the head of word w, `first[w]` its first child, and `after[w]` its next sibling. `depth[w]` is its
    distance from the root, and `children[w]` its number of children. The words of its sentence are
    `starts[w]:stops[w]`. `order` lists all words in preorder: w is at index `before[w]`, and its subtree has `sizes[w]`
    words. `top[w]` is the child of the root whose subtree contains w; for the root it is the root itself.
    """

    def __init__(self, heads: Ints, starts: Ints, stops: Ints) -> None:
        """Store the given buffers, and allocate those of the index."""
        words = heads.shape[0]
        self.heads = heads
        self.starts = starts
        self.stops = stops
        self.first, self.after, self.before, self.sizes = several_ints(4, words)
        self.order, self.depth, self.top, self.children = several_ints(4, words)


@dataclass(repr=False, eq=False)
class SearchedGraphs:
    """The enhanced graphs of all sentences. `nodes[w]` is the node of word w.

    `words[k]` is the word of node k, or -1 for an empty node. The arcs into node k are `node_arcs[k]:node_arcs[k+1]`;
    `heads` and `dependents` hold the nodes of each arc, -1 if the head is the root. The arcs out of node k are
    `out_arcs[out_starts[k]:out_starts[k+1]]`.
    """

    nodes: Ints
    words: Ints
    node_arcs: Ints
    heads: Ints
    dependents: Ints
    out_starts: Ints
    out_arcs: Ints


@dataclass(repr=False, eq=False)
class SearchPlan:
    """A search pattern, level by level.

    Word w may be at level k if `masks[k, w]` is 1. The edges of level k are the rows `edge_starts[k]:edge_starts[k+1]`
    of `edges`. The columns of an edge are: the relation, the side of this level's word (0: a, 1: b), the level of the
    other word, the lowest and the highest distance, and a row of `labels`. The first edge generates candidates.

    The parts of level k are the rows `part_starts[k]:part_starts[k+1]` of `parts`. The columns of a part are: its first
    level, the level after its last, and the fewest and the most words of its first level with which it may match.

    The pattern itself has the first `levels` levels. A match is written for each choice of words for the first
    `enumerated` of them, if words for the others exist.
    """

    masks: Ints
    edges: Ints
    edge_starts: Ints
    parts: Ints
    part_starts: Ints
    labels: Ints
    levels: int = 0
    enumerated: int = 0

    def size(self, levels: int, enumerated: int) -> None:
        """Store the number of levels of the pattern itself, and of the first levels whose words distinguish matches."""
        self.levels = levels
        self.enumerated = enumerated


class SearchWork:
    """The workspace of a search: the word and the candidates of each level, marks and a queue of nodes, counters."""

    def __init__(self, levels: int, longest: int, nodes: int) -> None:
        """Allocate buffers for `levels` levels, sentences of up to `longest` words and `nodes` nodes in all."""
        self.values = new_ints(levels)
        self.candidates = new_ints(levels, longest)
        self.marks = new_ints(nodes)
        self.queue = new_ints(nodes)
        self.mark = 0
        self.steps = 0
        self.most_steps = 0
        self.rows = 0
        self.full = 0

    def allow(self, most_steps: int) -> None:
        """Set the largest number of steps, and reset the count of steps."""
        self.steps = 0
        self.most_steps = most_steps

    def counts(self) -> tuple[int, int, int]:
        """Return the number of steps, the number of matches written, and 1 if there was no space for more matches."""
        return self.steps, self.rows, self.full

    def restart(self) -> None:
        """Remove all matches written so far."""
        self.rows = 0
        self.full = 0


def index(trees: SearchedTrees) -> None:
    """Compute children, preorder, subtree sizes and depths of all trees, and store them in `trees`."""
    with cython.nogil:
        words = trees.heads.shape[0]
        start = 0
        while start < words:
            stop = trees.stops[start]
            for w in range(start, stop):
                trees.first[w] = -1
                trees.children[w] = 0
                trees.sizes[w] = 1
            for w in range(stop - 1, start - 1, -1):
                h = trees.heads[w]
                trees.after[w] = -1
                if h >= 0:
                    trees.after[w] = trees.first[h]
                    trees.first[h] = w
                    trees.children[h] += 1
            # Breadth first: parents before children. `order` holds the queue until preorder is known.
            count = start
            for w in range(start, stop):
                if trees.heads[w] < 0:
                    trees.order[count] = w
                    trees.depth[w] = 0
                    trees.top[w] = w
                    count += 1
            at = start
            while at < count:
                w = trees.order[at]
                d = trees.first[w]
                while d >= 0:
                    trees.depth[d] = trees.depth[w] + 1
                    trees.top[d] = d if trees.depth[w] == 0 else trees.top[w]
                    trees.order[count] = d
                    count += 1
                    d = trees.after[d]
                at += 1
            for k in range(count - 1, start - 1, -1):
                w = trees.order[k]
                if trees.heads[w] >= 0:
                    trees.sizes[trees.heads[w]] += trees.sizes[w]
            place = start
            for k in range(start, count):
                w = trees.order[k]
                if trees.heads[w] < 0:
                    trees.before[w] = place
                    place += trees.sizes[w]
                d = trees.first[w]
                inner = trees.before[w] + 1
                while d >= 0:
                    trees.before[d] = inner
                    inner += trees.sizes[d]
                    d = trees.after[d]
            for w in range(start, stop):
                trees.order[trees.before[w]] = w
            start = stop


def join(
    firsts: Ints, begin: int, shown: Ints, out: Ints, plan: SearchPlan, trees: SearchedTrees, graphs: SearchedGraphs,
    work: SearchWork, slice_steps: int
) -> int:  # fmt: skip
    """Write the matches whose first word is `firsts[begin]` or a later one; return the index at which to continue.

    A match is a row of `out`: the words of the levels in `shown`, -1 for a level that is negative. The search pauses
    after `slice_steps` steps. It stops if `out` is full, or if it took more than the steps allowed; then the matches of
    the current first word are removed.
    """
    at = begin
    with cython.nogil:
        while at < firsts.shape[0] and work.steps < slice_steps:
            kept = work.rows
            work.values[0] = firsts[at]
            fits = _add(firsts[at], 0, 0, plan.edge_starts[0], plan, trees, graphs, work)
            if fits and _parts_hold(0, plan, trees, graphs, work):
                _enumerate(1, shown, out, plan, trees, graphs, work)
            if work.full or work.steps > work.most_steps:
                work.rows = kept
                break
            at += 1
    return at


def _enumerate(
    level: int, shown: Ints, out: Ints, plan: SearchPlan, trees: SearchedTrees, graphs: SearchedGraphs, work: SearchWork
) -> None:
    """Write all matches that extend the words already chosen for the levels below `level`."""
    if level == plan.enumerated:
        if _solvable(level, plan.levels, plan, trees, graphs, work):
            if work.rows >= out.shape[0]:
                work.full = 1
                return
            for k in range(shown.shape[0]):
                out[work.rows, k] = work.values[shown[k]] if shown[k] >= 0 else -1
            work.rows += 1
        return
    count = _fill(level, plan, trees, graphs, work)
    for k in range(count):
        work.values[level] = work.candidates[level, k]
        if _parts_hold(level, plan, trees, graphs, work):
            _enumerate(level + 1, shown, out, plan, trees, graphs, work)
        if work.full or work.steps > work.most_steps:
            return


def _solvable(
    level: int, last: int, plan: SearchPlan, trees: SearchedTrees, graphs: SearchedGraphs, work: SearchWork
) -> int:
    """Return whether there are words for all levels from `level` to `last` - 1 that fit those already chosen."""
    if level == last:
        return 1
    count = _fill(level, plan, trees, graphs, work)
    for k in range(count):
        work.values[level] = work.candidates[level, k]
        if _parts_hold(level, plan, trees, graphs, work) and _solvable(level + 1, last, plan, trees, graphs, work):
            return 1
        if work.steps > work.most_steps:
            return 0
    return 0


def _parts_hold(level: int, plan: SearchPlan, trees: SearchedTrees, graphs: SearchedGraphs, work: SearchWork) -> int:
    """Return whether each part of level `level` matches with an allowed number of words."""
    for part in range(plan.part_starts[level], plan.part_starts[level + 1]):
        first = plan.parts[part, PART_FIRST]
        last = plan.parts[part, PART_LAST]
        fewest = plan.parts[part, PART_FEWEST]
        most = plan.parts[part, PART_MOST]
        matches = 0
        count = _fill(first, plan, trees, graphs, work)
        for k in range(count):
            work.values[first] = work.candidates[first, k]
            if _parts_hold(first, plan, trees, graphs, work):
                matches += _solvable(first + 1, last, plan, trees, graphs, work)
            if matches > most or work.steps > work.most_steps:
                return 0
        if matches < fewest:
            return 0
    return 1


def _fill(level: int, plan: SearchPlan, trees: SearchedTrees, graphs: SearchedGraphs, work: SearchWork) -> int:
    """List the words that are candidates for `level`, generated by its first edge; return their number."""
    start = trees.starts[work.values[0]]
    stop = trees.stops[work.values[0]]
    count = 0
    edge = plan.edge_starts[level]
    # No edge relates the level to the words so far, or only an edge to itself.
    if edge == plan.edge_starts[level + 1] or plan.edges[edge, EDGE_LEVEL] == level:
        for w in range(start, stop):
            count = _add(w, count, level, edge, plan, trees, graphs, work)
        return count
    code = plan.edges[edge, EDGE_CODE]
    side = plan.edges[edge, EDGE_SIDE]
    u = work.values[plan.edges[edge, EDGE_LEVEL]]
    low = plan.edges[edge, EDGE_LOW]
    high = plan.edges[edge, EDGE_HIGH]
    if code == SAME:
        return _add(u, count, level, edge, plan, trees, graphs, work)
    if code == HEAD_OF and side == 0:
        if trees.heads[u] >= 0:
            count = _add(trees.heads[u], count, level, edge, plan, trees, graphs, work)
        return count
    if code in (HEAD_OF, SIBLING_OF):
        parent = u
        if code == SIBLING_OF:
            parent = trees.heads[u]
            if parent < 0:
                return 0
        child = trees.first[parent]
        while child >= 0:
            count = _add(child, count, level, edge, plan, trees, graphs, work)
            child = trees.after[child]
        return count
    if code == ANCESTOR_OF and side == 0:
        ancestor = u
        while ancestor >= 0 and trees.depth[u] - trees.depth[ancestor] <= high:
            count = _add(ancestor, count, level, edge, plan, trees, graphs, work)
            ancestor = trees.heads[ancestor]
        return count
    if code == ANCESTOR_OF:
        for k in range(trees.before[u], trees.before[u] + trees.sizes[u]):
            count = _add(trees.order[k], count, level, edge, plan, trees, graphs, work)
        return count
    if code == BEFORE and side == 0:
        begin = start
        if high < u - start:
            begin = u - high
        for w in range(begin, u - low + 1):
            count = _add(w, count, level, edge, plan, trees, graphs, work)
        return count
    if code == BEFORE:
        end = stop
        if high < stop - u:
            end = u + high + 1
        for w in range(u + low, end):
            count = _add(w, count, level, edge, plan, trees, graphs, work)
        return count
    if code == ARC_TO:
        node = graphs.nodes[u]
        previous = -1
        if side == 0:
            for k in range(graphs.node_arcs[node], graphs.node_arcs[node + 1]):
                other = graphs.heads[k]
                if other >= 0 and other != previous and graphs.words[other] >= 0:
                    count = _add(graphs.words[other], count, level, edge, plan, trees, graphs, work)
                previous = other
        else:
            for k in range(graphs.out_starts[node], graphs.out_starts[node + 1]):
                other = graphs.dependents[graphs.out_arcs[k]]
                if other != previous and graphs.words[other] >= 0:
                    count = _add(graphs.words[other], count, level, edge, plan, trees, graphs, work)
                previous = other
        return count
    for w in range(start, stop):
        count = _add(w, count, level, edge, plan, trees, graphs, work)
    return count


def _add(
    w: int, count: int, level: int, edge: int, plan: SearchPlan, trees: SearchedTrees, graphs: SearchedGraphs,
    work: SearchWork
) -> int:  # fmt: skip
    """Add word `w` to the candidates of `level` if its mask and edges allow it; return the new number of candidates."""
    work.steps += 1
    if plan.masks[level, w] == 0 or work.steps > work.most_steps:
        return count
    work.values[level] = w  # an edge may join a word to itself
    for k in range(edge, plan.edge_starts[level + 1]):
        u = work.values[plan.edges[k, EDGE_LEVEL]]
        if plan.edges[k, EDGE_SIDE] == 0:
            a = w
            b = u
        else:
            a = u
            b = w
        if not _holds(k, a, b, plan, trees, graphs, work):
            return count
    work.candidates[level, count] = w
    return count + 1


def _holds(
    edge: int, a: int, b: int, plan: SearchPlan, trees: SearchedTrees, graphs: SearchedGraphs, work: SearchWork
) -> int:
    """Return whether the relation of an edge holds between the words `a` and `b`."""
    code = plan.edges[edge, EDGE_CODE]
    low = plan.edges[edge, EDGE_LOW]
    high = plan.edges[edge, EDGE_HIGH]
    label = plan.edges[edge, EDGE_LABEL]
    if code == SAME:
        return a == b
    if code == OTHER:
        return a != b
    if code == HEAD_OF:
        return trees.heads[b] == a
    if code == ANCESTOR_OF:
        between = trees.depth[b] - trees.depth[a]
        inside = trees.before[b] - trees.before[a]
        return 0 <= inside < trees.sizes[a] and low <= between <= high  # type: ignore[no-any-return]
    if code == SIBLING_OF:
        return a != b and trees.heads[a] >= 0 and trees.heads[a] == trees.heads[b]
    if code == BEFORE:
        return low <= b - a <= high
    if code == SAME_SUBTREE:
        return trees.top[a] == trees.top[b]  # type: ignore[no-any-return]
    below = graphs.nodes[b]
    above = graphs.nodes[a]
    if code == ARC_TO:
        for k in range(graphs.node_arcs[below], graphs.node_arcs[below + 1]):
            if graphs.heads[k] == above and plan.labels[label, k]:
                return 1
        return 0
    if code == ARC_SIBLING_OF:
        if a == b:
            return 0
        for k in range(graphs.node_arcs[below], graphs.node_arcs[below + 1]):
            for m in range(graphs.node_arcs[above], graphs.node_arcs[above + 1]):
                work.steps += 1
                if graphs.heads[k] >= 0 and graphs.heads[k] == graphs.heads[m]:
                    return 1
        return 0
    # A path from a to b: breadth-first from b towards its heads; the last arc, into b, has the label.
    work.mark += 1
    count = 0
    for k in range(graphs.node_arcs[below], graphs.node_arcs[below + 1]):
        h = graphs.heads[k]
        if h >= 0 and plan.labels[label, k] and work.marks[h] != work.mark:
            work.marks[h] = work.mark
            work.queue[count] = h
            count += 1
    at = 0
    while at < count:
        node = work.queue[at]
        if node == above:
            return 1
        for k in range(graphs.node_arcs[node], graphs.node_arcs[node + 1]):
            work.steps += 1
            h = graphs.heads[k]
            if h >= 0 and work.marks[h] != work.mark:
                work.marks[h] = work.mark
                work.queue[count] = h
                count += 1
        at += 1
    return 0

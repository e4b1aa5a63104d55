"""Limits of networks, checked before they run.

ONNX Runtime computes whatever a file contains. Ropewalk therefore derives first, from constants and from the largest
inputs of a network, how large its arrays can become (`operators`), and how many of them can be in memory at once, in
any order of computation. Memory and work are limited.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ropewalk.models.onnx.operators import Known, evaluate, name_of
from ropewalk.models.onnx.sizes import Size, constant, unknown
from ropewalk.models.onnx.structure import FLOAT, INT64, shown

if TYPE_CHECKING:
    from ropewalk.models.onnx.operators import Cost
    from ropewalk.models.onnx.structure import Node, OnnxGraph, Value

MOST_LIVE = 1 << 28  # numbers of 32 bits in memory at once, a gigabyte, beside
MOST_FIXED, FIXED_A_BYTE = 1 << 24, 8  # those computed from constants alone: some, and more for each byte of the file
MOST_WORK, WORK_A_BYTE = 1 << 36, 1 << 15  # multiplications, likewise
NUMBER = 64  # multiplications in the time that one number of any other operator may take
MOST_DIMENSIONS = 8
LARGE, MOST_LARGE = 1 << 18, 1 << 11  # numbers of an array that is counted only while it is needed, and such arrays

InputSizes = Mapping[str, Sequence[Size | int]]  # of each input, the first sizes; the file must say those that follow


def varying(most: int) -> Size:
    """Return a new unknown size between 1 and `most`; dimensions that use the same object have equal sizes."""
    return unknown(1, most)


def demand_limits(network: OnnxGraph, inputs: InputSizes, length: int, scale: int = 1) -> None:
    """Raise `ValueError` if a network may need too much memory or work for inputs of these sizes.

    The limits grow with `length`, the number of bytes of the network's file. `scale` multiplies the limits of memory
    and work, but not the limit of arrays that are computed from constants alone.
    """
    known: dict[bytes, Known] = {}
    for table in network.tables:
        content = tuple(map(constant, table.content)) if table.content is not None and table.type == INT64 else None
        _add(known, table.name, Known(tuple(map(constant, table.shape)), content, table.type == FLOAT))
    meter = _Meter(length, scale, {*known})
    for value in network.inputs:
        _add(known, value.name, Known(_sizes(value, inputs), real=value.type == FLOAT))
    for node in network.nodes:
        try:
            arguments = [known[name] if name else None for name in node.inputs]
        except KeyError as failure:
            raise ValueError(
                f"{name_of(node)} reads {shown(failure.args[0])}, which nothing before it makes"
            ) from failure
        arrays, cost = evaluate(node, arguments)
        if len(node.outputs) > len(arrays) or max(len(array.shape) for array in arrays) > MOST_DIMENSIONS:
            raise ValueError(f"{name_of(node)} makes more arrays, or arrays of more dimensions, than exports have")
        for name, array in zip(node.outputs, arrays, strict=False):
            if name:
                _add(known, name, array)
        meter.add(node, arrays, cost)
    outputs = {value.name for value in network.outputs}
    if not outputs <= known.keys():
        raise ValueError(f"nothing makes its output {shown(min(outputs - known.keys()))}")
    meter.demand_memory(outputs)


class _Meter:
    """Meter of the memory and the work that the nodes of a network need; `constants` are the names of its constants."""

    def __init__(self, length: int, scale: int, constants: set[bytes]) -> None:
        self._fixed = constants  # names of arrays that are computed from constants alone
        self._most_fixed = MOST_FIXED + FIXED_A_BYTE * length
        self._most_live = MOST_LIVE * scale
        self._most_work = (MOST_WORK + WORK_A_BYTE * length) * scale
        self._fixed_numbers = self._work = self._small = 0
        self._before: list[int] = []  # for each node, those that must run before it, as bits
        self._makers: dict[bytes, int] = {}
        self._readers: dict[bytes, int] = {}
        self._large: dict[bytes, int] = {}
        self._needs: dict[int, int] = {}  # numbers that a node makes and works with, if they are many

    def add(self, node: Node, arrays: Sequence[Known], cost: Cost) -> None:
        """Add the outputs of a node, `arrays`, and its `cost` to the sums.

        Raise `ValueError` if the node needs too much memory, or if the nodes so far need too much work.
        """
        number = len(self._before)
        self._before.append(self._read(node.inputs, number))
        sizes = [array.memory for array in arrays]
        needed = sum(sizes) + cost.memory
        if needed > self._most_live:
            raise ValueError(f"{name_of(node)} would make an array too large: more than {self._most_live:,} numbers")
        self._work += cost.work + NUMBER * sum(sizes)
        if self._work > self._most_work:
            raise ValueError(f"{name_of(node)} would take too long: more than {self._most_work:,} steps in all")
        if node.inputs and all(not name or name in self._fixed for name in node.inputs):
            self._fixed.update(node.outputs)
            self._fixed_numbers += needed
            if self._fixed_numbers > self._most_fixed:
                raise ValueError(
                    f"{name_of(node)} would make constants too large: more than {self._most_fixed:,} numbers"
                )
            return
        for name, size in zip(node.outputs, sizes, strict=False):
            self._makers[name] = number
            if size >= LARGE:
                self._large[name] = size
        if needed >= LARGE:
            self._needs[number] = needed
        self._small += sum(size for size in sizes if size < LARGE)

    def _read(self, names: Sequence[bytes], reader: int) -> int:
        """Record that node `reader` reads the arrays `names`; return the nodes that must run before it.

        The nodes are returned as an integer in which bit i stands for node i.
        """
        before = 0
        for name in names:
            if name in self._makers:
                maker = self._makers[name]
                before |= self._before[maker] | 1 << maker
                self._readers[name] = self._readers.get(name, 0) | 1 << reader
        return before

    def demand_memory(self, outputs: set[bytes]) -> None:
        """Raise `ValueError` if too many numbers can be in memory at once, in any order in which the nodes can run.

        `outputs` are the names of the network's outputs, which stay in memory. While a node runs, any other array may
        be in memory too, unless all nodes that read it must run before, or the node that makes it must run after.
        """
        never = 1 << len(self._before)  # no node: an output is never freed
        large = [
            (size, self._makers[name], never if name in outputs else self._readers.get(name, never))
            for name, size in self._large.items()
        ]
        if len(large) > MOST_LARGE:
            raise ValueError(f"it makes {len(large):,} large arrays; expected at most {MOST_LARGE:,}")
        most = 0
        for node, needed in self._needs.items():
            before = self._before[node]
            others = sum(
                size
                for size, maker, readers in large
                if readers & ~before and not self._before[maker] >> node & 1 and maker != node
            )
            most = max(most, needed + others)
        if self._small + most > self._most_live:
            raise ValueError(f"its arrays would be too large together: more than {self._most_live:,} numbers at once")


def _sizes(value: Value, inputs: InputSizes) -> tuple[Size, ...]:
    """Return the sizes of a network's input: those stored in the file, and those from `inputs` where it stores none.

    Raise `ValueError` if `inputs` does not have the input or the size.
    """
    open_sizes = inputs.get(value.name.decode("utf-8", "replace"))
    if open_sizes is None:
        raise ValueError(f"it has the input {shown(value.name)}; expected no others than {', '.join(inputs)}")
    sizes: list[Size] = []
    for index, stored in enumerate(value.shape):
        if stored is None and index >= len(open_sizes):
            raise ValueError(f"its input {shown(value.name)} has no size {index + 1}")
        size = open_sizes[index] if stored is None else stored
        sizes.append(constant(size) if isinstance(size, int) else size)
    if any(size.least < 0 for size in sizes):
        raise ValueError(f"its input {shown(value.name)} has a negative size")
    return tuple(sizes)


def _add(known: dict[bytes, Known], name: bytes, array: Known) -> None:
    if name in known:
        raise ValueError(f"it makes {shown(name)} twice")
    known[name] = array

"""The operators that exports use, with a rule for each that derives the sizes of its outputs before it runs.

A rule knows the sizes of an operator's inputs, and the values of those that contain sizes or axes. It returns upper
bounds, and raises `ValueError` if there are none: where a size depends on the numbers that a network reads. ONNX
Runtime checks everything else: types, and whether sizes fit each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from ropewalk.models.onnx.sizes import between, constant, either, larger, minus, over, plus, smaller, times, unknown
from ropewalk.models.onnx.structure import FLOAT, INT64, MICROSOFT, SMALL, WIDTHS, Tensor, shown

if TYPE_CHECKING:
    from ropewalk.models.onnx.sizes import Size
    from ropewalk.models.onnx.structure import Node

END = (1 << 31) - 1  # slices that stop here or later stop at the last row
REST, NOTHING, ONE = map(constant, (-1, 0, 1))
Sizes = tuple["Size", ...]


class Known(NamedTuple):
    """Facts about an array that are known before the network runs.

    `shape` has the sizes of its dimensions. `content` has its values if they are a few integers of 64 bits. `real` is
    true if they are real numbers.
    """

    shape: Sizes
    content: tuple[Size | None, ...] | None = None
    real: bool = False

    @property
    def most(self) -> int:
        """The largest number of elements that the array can have."""
        return prod(size.most for size in self.shape)

    @property
    def memory(self) -> int:
        """The most memory that the array can need, in units of 32 bits; integers are counted as 64 bits."""
        return self.most if self.real else 2 * self.most


class Cost(NamedTuple):
    """Cost of running an operator: multiplications, and working memory beside its outputs, in 32-bit numbers."""

    work: int = 0
    memory: int = 0


NodeInputs = Sequence[Known | None]  # an input that is left out is None
OperatorRule = Callable[["Node", NodeInputs], list[Known]]
CostRule = Callable[["Node", NodeInputs, Known], Cost]


def _dimension(size: Size | None) -> Size:
    """Return `size` as the size of a dimension, at least 0; raise `ValueError` if it is unknown or always negative."""
    known = _known(size)
    if known.most < 0:
        raise ValueError("an array has a negative size")
    return known if known.least >= 0 else _known(between(0, known.most))


def _content(array: Known | None) -> tuple[Size, ...]:
    """Return the values of an array of sizes; raise `ValueError` if one is not known before the network runs."""
    if array is None or array.content is None:
        raise ValueError("the size of an array depends on the input, or is given by too many numbers")
    return tuple(_known(size) for size in array.content)


def _known(size: Size | None) -> Size:
    if size is None:
        raise ValueError("an array has a size that is too large, or known only when it runs")
    return size


def _integers(array: Known | None) -> tuple[int, ...]:
    """Return the values of an array that must be constants, such as axes; raise `ValueError` if they are not."""
    sizes = _content(array)
    if not all(size.is_constant for size in sizes):
        raise ValueError("axes or steps are not constants")
    return tuple(size.offset for size in sizes)


def _has(inputs: NodeInputs, index: int) -> bool:
    return len(inputs) > index and inputs[index] is not None


def _array(inputs: NodeInputs, index: int) -> Known:
    array = inputs[index]
    if array is None:
        raise TypeError("an input is missing")
    return array


def _integer(node: Node, name: bytes, default: int) -> int:
    value = node.attributes.get(name, default)
    if not isinstance(value, int):
        raise TypeError(f"{name!r} is no integer")
    return value


def _list(node: Node, name: bytes, default: Sequence[int]) -> tuple[int, ...]:
    value = node.attributes.get(name, tuple(default))
    if not isinstance(value, tuple) or isinstance(value, Tensor):
        raise TypeError(f"{name!r} is no list")
    return tuple(value)


def _axis(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise IndexError(f"axis {axis} of {rank}")
    return axis % rank


def _axes(node: Node, inputs: NodeInputs, rank: int) -> list[int] | None:
    """Return the axes in a node's second input or in its attribute `axes`, as indices from 0; None if it has neither.

    `rank` is the number of dimensions of the array that they belong to.
    """
    if _has(inputs, 1):
        return [_axis(axis, rank) for axis in _integers(inputs[1])]
    return [_axis(axis, rank) for axis in _list(node, b"axes", ())] if b"axes" in node.attributes else None


def _joined(first: Size, second: Size) -> Size:
    """Return the size of a dimension after broadcasting: the two sizes are equal, or one of them is 1."""
    if first == ONE or (second.is_constant and second.offset > 1):
        return second
    if second == ONE or first.is_constant or first == second:
        return first
    return unknown(min(first.least, second.least), max(first.most, second.most))  # of 0 and 1 it is 0


def _broadcast(first: Sizes, second: Sizes) -> Sizes:
    length = max(len(first), len(second))
    padded = ((ONE,) * (length - len(shape)) + shape for shape in (first, second))
    return tuple(map(_joined, *padded))


def _product(shape: Sequence[Size]) -> Size:
    total = ONE
    for size in shape:
        total = _known(times(total, size))
    return total


def _together(first: Known, second: Known, how: Callable[[Size, Size], Size | None] | None) -> Known:
    """Return the facts about the array that an operator computes from two arrays, element by element.

    `how` computes an element from two; if it is None, the values of the result are not known.
    """
    shape = _broadcast(first.shape, second.shape)
    ours, theirs = first.content, second.content
    if how is None or ours is None or theirs is None or len(shape) > 1:
        return Known(shape)
    pairs = zip(
        ours * (len(theirs) if len(ours) == 1 else 1), theirs * (len(ours) if len(theirs) == 1 else 1), strict=True
    )
    return Known(shape, tuple(None if a is None or b is None else how(a, b) for a, b in pairs))


def _elementwise(how: Callable[[Size, Size], Size | None] | None = None) -> OperatorRule:
    def rule(_: Node, inputs: NodeInputs) -> list[Known]:
        arrays = [_array(inputs, place) for place in range(len(inputs))]
        return [reduce(lambda first, second: _together(first, second, how), arrays)]

    return rule


def _same(node: Node, inputs: NodeInputs) -> list[Known]:
    return [Known(_array(inputs, 0).shape)] * len(node.outputs)


def _cast(node: Node, inputs: NodeInputs) -> list[Known]:
    target = _integer(node, b"to", 0)
    if target not in WIDTHS:
        raise ValueError(f"Cast makes numbers of type {target}")
    array = _array(inputs, 0)
    return [array if target == INT64 else Known(array.shape)]


def _divided(_: Node, inputs: NodeInputs) -> list[Known]:
    """Return the facts about a quotient; raise `ValueError` if integers are divided by any that may not be positive.

    Dividing the lowest integer by -1 would end the program.
    """
    first, second = _array(inputs, 0), _array(inputs, 1)
    positive = second.content is not None and all(size is not None and size.least > 0 for size in second.content)
    if not first.real and not positive:
        raise ValueError("integers are divided by a value that may be 0 or negative, which no export does")
    return [_together(first, second, over)]


def _where(_: Node, inputs: NodeInputs) -> list[Known]:
    chosen = _together(_array(inputs, 1), _array(inputs, 2), either)
    shape = _broadcast(_array(inputs, 0).shape, chosen.shape)
    return [Known(shape, chosen.content if shape == chosen.shape else None)]


def _shape(node: Node, inputs: NodeInputs) -> list[Known]:
    shape = _array(inputs, 0).shape
    part = shape[slice(_integer(node, b"start", 0), _integer(node, b"end", len(shape)))]
    if shape and not part:
        raise IndexError("no dimensions")
    return [Known((constant(len(part)),), part)]


def _reshape(node: Node, inputs: NodeInputs) -> list[Known]:
    array = _array(inputs, 0)
    shape: list[Size] = []
    rest = -1
    for place, size in enumerate(_content(inputs[1])):
        if not size.is_constant and size.least < 1:
            raise ValueError("a size may be 0 or -1, which stand for other sizes")
        if size == REST and rest < 0:
            rest = place
            shape.append(ONE)
        else:
            copied = size == NOTHING and not _integer(node, b"allowzero", 0)
            shape.append(array.shape[place] if copied else _dimension(size))
    if rest >= 0:
        shape[rest] = _dimension(over(_product(array.shape), _product([larger(size, ONE) for size in shape])))
    return [Known(tuple(shape), array.content)]


def _squeeze(node: Node, inputs: NodeInputs) -> list[Known]:
    array = _array(inputs, 0)
    axes = _axes(node, inputs, len(array.shape))
    if axes is None:
        if not all(size.is_constant for size in array.shape):
            raise ValueError("a Squeeze node without axes has an input whose size varies; expected a fixed size")
        axes = [place for place, size in enumerate(array.shape) if size == ONE]
    return [Known(tuple(size for place, size in enumerate(array.shape) if place not in axes), array.content)]


def _unsqueeze(_: Node, inputs: NodeInputs) -> list[Known]:
    array = _array(inputs, 0)
    axes = _integers(inputs[1])
    rank = len(array.shape) + len(axes)
    added = {_axis(axis, rank) for axis in axes}
    rest = iter(array.shape)
    return [Known(tuple(ONE if place in added else next(rest, ONE) for place in range(rank)), array.content)]


def _transpose(node: Node, inputs: NodeInputs) -> list[Known]:
    shape = _array(inputs, 0).shape
    order = _list(node, b"perm", range(len(shape))[::-1])
    if sorted(order) != list(range(len(shape))):
        raise IndexError("the permutation does not fit the number of dimensions")
    return [Known(tuple(shape[place] for place in order))]


def _concat(node: Node, inputs: NodeInputs) -> list[Known]:
    arrays = [_array(inputs, place) for place in range(len(inputs))]
    axis = _axis(_integer(node, b"axis", 0), len(arrays[0].shape))
    if len({len(array.shape) for array in arrays}) > 1:
        raise IndexError("the arrays have different numbers of dimensions")
    shape = [
        reduce(either, sizes) for sizes in zip(*(array.shape for array in arrays), strict=True)
    ]  # some may be empty
    shape[axis] = reduce(lambda first, second: _dimension(plus(first, second)), (array.shape[axis] for array in arrays))
    known = len(shape) == 1 and shape[0].most <= SMALL and all(array.content is not None for array in arrays)
    content = tuple(size for array in arrays for size in array.content or ()) if known else None
    return [Known(tuple(shape), content)]


def _split(node: Node, inputs: NodeInputs) -> list[Known]:
    shape = _array(inputs, 0).shape
    axis = _axis(_integer(node, b"axis", 0), len(shape))
    many = len(node.outputs)
    if _has(inputs, 1):
        parts = [_dimension(size) for size in _content(inputs[1])]
    else:
        parts = [_dimension(over(_known(plus(shape[axis], constant(many - 1))), constant(many)))] * many
    if len(parts) != many:
        raise IndexError("the number of parts differs from the number of outputs")
    return [Known((*shape[:axis], part, *shape[axis + 1 :])) for part in parts]


def _slice(_: Node, inputs: NodeInputs) -> list[Known]:
    array, starts, ends = (_array(inputs, place) for place in range(3))
    shape = list(array.shape)
    count = len(_content(starts)) if starts.content is not None else _single(starts.shape)
    axes = [_axis(axis, len(shape)) for axis in (_integers(inputs[3]) if _has(inputs, 3) else range(count))]
    steps = _integers(inputs[4]) if _has(inputs, 4) else (1,) * count
    unsure: tuple[Size | None, ...] = (None,) * count
    begins, stops = starts.content or unsure, ends.content or unsure
    if not len(axes) == len({*axes}) == len(steps) == len(begins) == len(stops):
        raise IndexError("axes, steps, starts and ends differ in number")
    content = array.content
    for start, end, axis, step in zip(begins, stops, axes, steps, strict=True):
        exact = start is not None and end is not None and start.is_constant and end.is_constant and step > 0
        part = slice(start.offset, end.offset, step) if exact and start and end else None
        content = content[part] if content is not None and part is not None and len(shape) == 1 else None
        shape[axis] = _sliced(shape[axis], start, end, step)
    return [Known(tuple(shape), content)]


def _single(shape: Sizes) -> int:
    if len(shape) != 1 or not shape[0].is_constant:
        raise IndexError("a list has an unknown length")
    return shape[0].offset


def _sliced(size: Size, start: Size | None, end: Size | None, step: int) -> Size:
    """Return the size of the slice `start:end:step` of a dimension of size `size`, or a size from 0 to `size`.

    The second is returned if the size of the slice cannot be derived; `start` or `end` may be unknown, None.
    """
    at_most = _known(between(0, size.most))
    if start is None or end is None or not start.is_constant or step < 1:  # backwards, ends mean several things
        return at_most
    if size.is_constant and end.is_constant:
        return constant(len(range(*slice(start.offset, end.offset, step).indices(size.offset))))
    if step != 1 or start.offset < 0:
        return at_most
    if end.is_constant and end.offset >= END:
        stop: Size | None = size
    elif end.is_constant and end.offset < 0:
        stop = plus(size, end)
    else:
        stop = smaller(size, end) if end.least >= 0 else None
    rest = None if stop is None else minus(stop, start)
    return at_most if rest is None else _dimension(larger(rest, NOTHING))


def _expand(_: Node, inputs: NodeInputs) -> list[Known]:
    return [Known(_broadcast(_array(inputs, 0).shape, tuple(map(_dimension, _content(inputs[1])))))]


def _tile(_: Node, inputs: NodeInputs) -> list[Known]:
    shape, repeats = _array(inputs, 0).shape, _content(inputs[1])
    return [Known(tuple(_dimension(times(*pair)) for pair in zip(shape, map(_dimension, repeats), strict=True)))]


def _pad(node: Node, inputs: NodeInputs) -> list[Known]:
    shape = list(_array(inputs, 0).shape)
    if node.attributes.get(b"mode", b"constant") != b"constant":
        raise TypeError("the padding is not constant")
    axes = [_axis(axis, len(shape)) for axis in (_integers(inputs[3]) if _has(inputs, 3) else range(len(shape)))]
    edges = _content(inputs[1])
    if len(edges) != 2 * len(axes):
        raise IndexError("the number of paddings does not fit the number of axes")
    if any(edge.least < 0 for edge in edges):  # old runtimes cut off more than there is
        raise ValueError("a padding may be negative")
    for place, axis in enumerate(axes):
        both = _known(plus(edges[place], edges[place + len(axes)]))
        shape[axis] = _dimension(plus(shape[axis], both))
    return [Known(tuple(shape))]


def _range(_: Node, inputs: NodeInputs) -> list[Known]:
    (start,), (end,), (step,) = (_content(inputs[place]) for place in range(3))
    if not step.is_constant or not step.offset:
        raise ValueError("the step of a range is not a constant")
    length = larger(_known(minus(end, start) if step.offset > 0 else minus(start, end)), NOTHING)
    wide = abs(step.offset)
    return [Known((_known(over(_known(plus(length, constant(wide - 1))), constant(wide))),))]


def _constant_of_shape(node: Node, inputs: NodeInputs) -> list[Known]:
    value = node.attributes.get(b"value")
    if value is not None and not isinstance(value, Tensor):
        raise TypeError("no tensor")
    return [Known(tuple(map(_dimension, _content(inputs[0]))))]


def _demand_numbers(inputs: NodeInputs) -> None:
    """Raise `ValueError` if an input may be empty.

    Old versions of ONNX Runtime divide by the sizes of such an array, or read beyond its end.
    """
    if any(size.least < 1 for array in inputs if array is not None for size in array.shape):
        raise ValueError("an array may be empty")


def _gather(node: Node, inputs: NodeInputs) -> list[Known]:
    array, indices = _array(inputs, 0), _array(inputs, 1)
    _demand_numbers([array])
    axis = _axis(_integer(node, b"axis", 0), len(array.shape))
    shape = (*array.shape[:axis], *indices.shape, *array.shape[axis + 1 :])
    if array.content is None or indices.content is None or len(array.shape) != 1 or len(shape) > 1:
        return [Known(shape)]
    content = array.content
    return [Known(shape, tuple(content[_axis(place, len(content))] for place in _integers(indices)))]


def _gather_nd(node: Node, inputs: NodeInputs) -> list[Known]:
    _demand_numbers(inputs)
    shape, indices = _array(inputs, 0).shape, _array(inputs, 1).shape
    depth = _single(indices[-1:])
    if _integer(node, b"batch_dims", 0) or not 0 < depth <= len(shape):  # by batches, old runtimes divide
        raise IndexError("there are more indices than dimensions")
    return [Known((*indices[:-1], *shape[depth:]))]


def _reduced(node: Node, inputs: NodeInputs) -> list[Known]:
    shape = _array(inputs, 0).shape
    axes = _axes(node, inputs, len(shape))
    if not axes:
        axes = [] if _integer(node, b"noop_with_empty_axes", 0) else list(range(len(shape)))
    if _integer(node, b"keepdims", 1):
        return [Known(tuple(ONE if place in axes else size for place, size in enumerate(shape)))]
    return [Known(tuple(size for place, size in enumerate(shape) if place not in axes))]


def _matmul(_: Node, inputs: NodeInputs) -> list[Known]:
    first, second = _array(inputs, 0).shape, _array(inputs, 1).shape
    rows, columns = first[-2:-1], second[-1:] if len(second) > 1 else ()
    return [Known((*_broadcast(first[:-2], second[:-2]), *rows, *columns))]


def _matmul_n_bits(node: Node, inputs: NodeInputs) -> list[Known]:
    shape = _array(inputs, 0).shape
    inner, outer, block = (_integer(node, name, 0) for name in (b"K", b"N", b"block_size"))
    blocks = -(-inner // block)
    table, scales = _array(inputs, 1), _array(inputs, 2)
    size = block * _integer(node, b"bits", 4) // 8
    if shape[-1] != constant(inner) or table.shape != tuple(map(constant, (outer, blocks, size))) or len(inputs) > 3:
        raise IndexError("the sizes of the inputs contradict the attributes")
    if scales.most != outer * blocks:
        raise IndexError("the number of scales differs from the number of blocks")
    return [Known((*shape[:-1], constant(outer)))]


def _gemm(node: Node, inputs: NodeInputs) -> list[Known]:
    first, second = _array(inputs, 0).shape, _array(inputs, 1).shape
    rows = first[1 if _integer(node, b"transA", 0) else 0]
    return [Known((rows, second[0 if _integer(node, b"transB", 0) else 1]))]


def _conv(node: Node, inputs: NodeInputs) -> list[Known]:
    shape, weights = _array(inputs, 0).shape, _array(inputs, 1).shape
    sides = len(shape) - 2
    pads = _list(node, b"pads", (0,) * (2 * sides))
    strides, dilations = (_list(node, name, (1,) * sides) for name in (b"strides", b"dilations"))
    if node.attributes.get(b"auto_pad", b"NOTSET") not in {b"NOTSET", b"VALID"} or min(*strides, *dilations) < 1:
        raise TypeError("the padding mode is not supported, or a stride or dilation is below 1")
    if len(weights) != len(shape) or not len(strides) == len(dilations) == sides or len(pads) != 2 * sides:
        raise IndexError("the sizes of the inputs contradict the attributes")
    out = []
    for place in range(sides):
        window = _known(times(_known(minus(weights[place + 2], ONE)), constant(dilations[place])))
        whole = _known(plus(shape[place + 2], constant(pads[place] + pads[place + sides])))
        rest = _dimension(minus(whole, window))
        out.append(rest if strides[place] == 1 else _dimension(over(rest, constant(strides[place]))))
    return [Known((shape[0], weights[0], *out))]


def _lstm(node: Node, inputs: NodeInputs) -> list[Known]:
    steps, rows, _ = _array(inputs, 0).shape
    sides, gates, _ = _array(inputs, 1).shape
    hidden = _array(inputs, 2).shape[2]
    size = _integer(node, b"hidden_size", 0)
    if hidden != constant(size) or gates != constant(4 * size):
        raise IndexError("the sizes of the inputs contradict the attributes")
    return [Known((steps, sides, rows, hidden)), *[Known((sides, rows, hidden))] * 2][: len(node.outputs)]


def _letters(node: Node, inputs: NodeInputs) -> tuple[dict[str, Size], str]:
    """Return the size that each letter in the equation of an Einsum node stands for, and the letters of its output.

    Raise `ValueError` if an input may be empty, or if exports do not use such an equation.
    """
    _demand_numbers(inputs)
    equation = node.attributes.get(b"equation")
    if not isinstance(equation, bytes):
        raise TypeError("the equation is missing")
    left, arrow, right = equation.decode("ascii", "replace").replace(" ", "").partition("->")
    sides = left.split(",")
    if not arrow or len(sides) != len(inputs) or len(sides) > 2 or not all(map(str.isalpha, (*sides, right))):
        raise ValueError(f"Einsum has the equation {shown(equation)}")
    sizes: dict[str, Size] = {}
    for letters, place in zip(sides, range(len(inputs)), strict=True):
        for letter, size in zip(letters, _array(inputs, place).shape, strict=True):
            sizes[letter] = _joined(sizes.get(letter, ONE), size)
    return sizes, right


def _einsum(node: Node, inputs: NodeInputs) -> list[Known]:
    sizes, letters = _letters(node, inputs)
    if not {*letters} <= sizes.keys():
        raise IndexError("the output of the equation has letters that no input has")
    return [Known(tuple(sizes[letter] for letter in letters))]


def _cost_of_product(_: Node, inputs: NodeInputs, out: Known) -> Cost:
    return Cost(out.most * _array(inputs, 0).shape[-1].most, out.most)


def _cost_of_gemm(node: Node, inputs: NodeInputs, out: Known) -> Cost:
    return Cost(out.most * _array(inputs, 0).shape[0 if _integer(node, b"transA", 0) else 1].most)


def _cost_of_n_bits(node: Node, _: NodeInputs, out: Known) -> Cost:
    inner = _integer(node, b"K", 0)
    return Cost(out.most * inner, inner * _integer(node, b"N", 0))


def _cost_of_conv(_: Node, inputs: NodeInputs, out: Known) -> Cost:
    weights = _array(inputs, 1).shape
    window = prod(size.most for size in weights[2:])
    columns = prod(size.most for size in (*_array(inputs, 0).shape[:2], *out.shape[2:])) * window
    return Cost(out.most * weights[1].most * window, columns)


def _cost_of_lstm(_: Node, inputs: NodeInputs, out: Known) -> Cost:
    width, hidden = (_array(inputs, place).shape[-1].most for place in (0, 2))
    return Cost(4 * out.most * (width + hidden), 4 * out.most)


def _cost_of_einsum(node: Node, inputs: NodeInputs, out: Known) -> Cost:
    sizes, _ = _letters(node, inputs)
    return Cost(prod(size.most for size in sizes.values()), sum(array.most for array in inputs if array) + out.most)


class Operator(NamedTuple):
    """An operator of ONNX that exports use.

    `rule` derives the facts about its outputs, and `cost` its cost. `attributes` are those that exports set. `makes` is
    the type of its outputs: `REAL` for real numbers, `WHOLE` for integers and booleans, None if `_is_real` decides.
    """

    rule: OperatorRule
    attributes: tuple[bytes, ...] = ()
    cost: CostRule = lambda *_: Cost()
    makes: bool | None = None


REAL, WHOLE = True, False


OperatorTable = dict[tuple[bytes, bytes], Operator]  # by domain and name


def _all(names: bytes, rule: OperatorRule, *attributes: bytes, makes: bool | None = None) -> OperatorTable:
    return {(b"", name): Operator(rule, attributes, makes=makes) for name in names.split()}


OPERATORS: Final[OperatorTable] = {
    **_all(b"Abs Ceil Clip Cos Erf EyeLike Log Reciprocal Relu Sigmoid Sign Sin Sqrt Tanh", _same),
    **_all(b"IsNaN Not", _same, makes=WHOLE),
    **_all(b"LogSoftmax Softmax", _same, b"axis"),
    **_all(b"CumSum", _same, b"exclusive", b"reverse"),
    **_all(b"DequantizeLinear", _same, b"axis", makes=REAL),
    **_all(b"Gelu", _same, b"approximate"),
    **_all(b"LayerNormalization", _same, b"axis", b"epsilon", b"stash_type"),
    **_all(b"LeakyRelu", _same, b"alpha"),
    **_all(b"QuantizeLinear", _same, b"axis", b"saturate", makes=WHOLE),
    **_all(b"And Equal Greater GreaterOrEqual Less LessOrEqual Or", _elementwise(), makes=WHOLE),
    **_all(b"Pow", _elementwise()),
    **_all(b"Add Sum", _elementwise(plus)),
    **_all(b"Div", _divided),
    **_all(b"Max", _elementwise(larger)),
    **_all(b"Min", _elementwise(smaller)),
    **_all(b"Mul", _elementwise(times)),
    **_all(b"Sub", _elementwise(minus)),
    **_all(b"Cast", _cast, b"to", b"saturate"),
    **_all(b"Concat", _concat, b"axis"),
    **_all(b"ConstantOfShape", _constant_of_shape, b"value"),
    **_all(b"Expand", _expand),
    **_all(b"Gather", _gather, b"axis"),
    **_all(b"GatherElements", lambda _, inputs: [Known(_array(inputs, 1).shape)], b"axis"),
    **_all(b"GatherND", _gather_nd, b"batch_dims"),
    **_all(b"Identity", lambda _, inputs: [_array(inputs, 0)]),
    **_all(b"Neg", lambda _, inputs: [_together(Known((), (NOTHING,)), _array(inputs, 0), minus)]),
    **_all(b"Pad", _pad, b"mode"),
    **_all(b"Range", _range),
    **_all(b"ReduceMax ReduceMean", _reduced, b"axes", b"keepdims", b"noop_with_empty_axes"),
    **_all(b"ReduceSum", _reduced, b"keepdims", b"noop_with_empty_axes"),
    **_all(b"Reshape", _reshape, b"allowzero"),
    **_all(b"Shape", _shape, b"end", b"start", makes=WHOLE),
    **_all(b"Slice", _slice),
    **_all(b"Split", _split, b"axis", b"num_outputs"),
    **_all(b"Squeeze", _squeeze),
    **_all(b"Tile", _tile),
    **_all(b"Transpose", _transpose, b"perm"),
    **_all(b"Unsqueeze", _unsqueeze),
    **_all(b"Where", _where),
    (b"", b"Conv"): Operator(
        _conv, (b"auto_pad", b"dilations", b"group", b"kernel_shape", b"pads", b"strides"), _cost_of_conv
    ),
    (b"", b"Einsum"): Operator(_einsum, (b"equation",), _cost_of_einsum),
    (b"", b"Gemm"): Operator(_gemm, (b"alpha", b"beta", b"transA", b"transB"), _cost_of_gemm),
    (b"", b"LSTM"): Operator(_lstm, (b"direction", b"hidden_size"), _cost_of_lstm),
    (b"", b"MatMul"): Operator(_matmul, (), _cost_of_product),
    (MICROSOFT, b"MatMulIntegerToFloat"): Operator(_matmul, (), _cost_of_product, REAL),
    (MICROSOFT, b"MatMulNBits"): Operator(
        _matmul_n_bits, (b"K", b"N", b"accuracy_level", b"bits", b"block_size"), _cost_of_n_bits, REAL
    ),
}


def _is_real(node: Node, inputs: NodeInputs) -> bool:
    """Return whether a node's outputs are real numbers, if the table of operators does not say so.

    For most operators they have the type of the first input.
    """
    if node.operator == b"Cast":
        return _integer(node, b"to", 0) == FLOAT
    if node.operator == b"ConstantOfShape":
        value = node.attributes.get(b"value")
        return value is None or (isinstance(value, Tensor) and value.type == FLOAT)
    return _array(inputs, 1 if node.operator == b"Where" else 0).real


def evaluate(node: Node, inputs: NodeInputs) -> tuple[list[Known], Cost]:
    """Return the facts about a node's outputs, and its cost; `inputs` are the facts about its inputs.

    Raise `ValueError` if exports do not use the operator or an attribute, or if the outputs' sizes have no bounds.
    """
    operator = OPERATORS.get((node.domain, node.operator))
    if operator is None:
        raise ValueError(f"it uses the operator {name_of(node)}, which no export uses")
    odd = node.attributes.keys() - operator.attributes
    if odd:
        raise ValueError(f"{name_of(node)} has the attribute {shown(min(odd))}, which no export uses")
    try:
        real = _is_real(node, inputs) if operator.makes is None else operator.makes
        arrays = [array._replace(real=real) for array in operator.rule(node, inputs)]
        cost = operator.cost(node, inputs, arrays[0])
    except (IndexError, TypeError, ZeroDivisionError) as failure:
        raise ValueError(f"{name_of(node)} has other inputs or attributes than it needs") from failure
    except ValueError as failure:
        raise ValueError(f"{name_of(node)}: {failure}") from failure
    return arrays, cost


def name_of(node: Node) -> str:
    """Return the name of a node's operator, with its domain if that is not ONNX's own."""
    return shown(b".".join(filter(None, (node.domain, node.operator))))[1:-1]

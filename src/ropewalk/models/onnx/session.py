"""Sessions of ONNX Runtime, set up so that results are reproducible."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from ropewalk.errors import ModelError
from ropewalk.models.onnx.files import BESIDE
from ropewalk.models.onnx.limits import demand_limits
from ropewalk.models.onnx.structure import BOOL, FLOAT, INT8, INT32, INT64, UINT8, read_network

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    from ropewalk.models.onnx.limits import InputSizes
    from ropewalk.models.onnx.structure import Tensor

NUMBERS = {FLOAT: "<f4", UINT8: "u1", INT8: "i1", INT32: "<i4", INT64: "<i8", BOOL: "?"}  # as numpy names types


@contextmanager
def naming(file: str) -> Iterator[None]:
    """Convert a `ValueError` in the `with` block into a `ModelError` that names `file`, the file of the network."""
    try:
        yield
    except ValueError as failure:
        raise ModelError(
            file,
            f"is no network that Ropewalk computes: {failure}; expected one that `ropewalk export` or "
            "`ropewalk train-segmenter` wrote: copy or export the model again",
        ) from failure


@final
class Session:
    """A network that ONNX Runtime computes: from input arrays by name to output arrays."""

    def __init__(  # noqa: PLR0913 - a network, its file, and the limits of computing it
        self,
        network: bytes,
        file: str,
        threads: int,
        sizes: Sequence[InputSizes],
        *,
        scale: int = 1,
        weights: bytes = b"",
    ) -> None:
        """Check that a network stays within the limits for all inputs of `sizes`, and prepare it for running.

        `network` is the content of `file`. `weights` is the content of the second file for weights that do not fit into
        the first, or empty. ONNX Runtime gets these bytes and opens no file. See `demand_limits` for `scale`. Raise
        `ModelError` if the network is refused.
        """
        with naming(file):
            checked = read_network(network, f"{Path(file).name}{BESIDE}" if weights else "")
            for size in sizes:
                demand_limits(checked, size, len(network) + len(weights), scale)
            self._tables = {table.name.decode(): _table(table, weights) for table in checked.tables if table.beside}
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False  # it would never free the memory of one very long sentence
        options.enable_mem_pattern = False  # its lock may be held while another thread forks the process
        options.log_severity_level = 4  # problems are raised instead
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # others may need the cores
        options.add_session_config_entry("session.disable_quant_qdq", "1")  # int8 weights become float at once
        if self._tables:
            values = map(onnxruntime.OrtValue.ortvalue_from_numpy, self._tables.values())
            options.add_external_initializers([*self._tables], [*values])
        try:
            self._session = onnxruntime.InferenceSession(
                network,
                options,
                providers=["CPUExecutionProvider"],
                enable_fallback=0,  # it would print that it retries
            )
        except Exception as failure:
            raise ModelError(file, f"is no network that ONNX Runtime can compute: {failure}") from failure
        self._file = file
        self._has_run = False
        self.outputs: tuple[str, ...] = tuple(output.name for output in self._session.get_outputs())
        self.inputs: tuple[str, ...] = tuple(entry.name for entry in self._session.get_inputs())

    def input_widths(self) -> dict[str, int]:
        """Return the size of the last dimension of each input, by name; 0 where it may vary."""
        return _widths(self._session.get_inputs())

    def width(self, output: str) -> int:
        """Return the size of the last dimension of the output named `output`; 0 if it may vary."""
        return self.widths().get(output, 0)

    def widths(self) -> dict[str, int]:
        """Return the size of the last dimension of each output, by name; 0 where it may vary."""
        return _widths(self._session.get_outputs())

    def run(
        self, inputs: Mapping[str, npt.NDArray[Any]], outputs: Sequence[str] | None = None
    ) -> list[npt.NDArray[np.float32]]:
        """Run the network on `inputs`, arrays by name; return the outputs that `outputs` names, or all.

        ONNX Runtime computes all outputs in any case. Raise `ModelError` if the network cannot be computed for these
        inputs, or if the arrays of the first run have other shapes than the file declares.
        """
        try:
            out: list[npt.NDArray[np.float32]] = self._session.run(outputs, dict(inputs))
        except Exception as failure:
            raise self._misfit(str(failure)) from failure
        if not self._has_run:
            self._demand_shapes(inputs, dict(zip(outputs or self.outputs, out, strict=True)))
            self._has_run = True
        return out

    def _demand_shapes(self, inputs: Mapping[str, npt.NDArray[Any]], outputs: Mapping[str, npt.NDArray[Any]]) -> None:
        """Raise `ModelError` unless each output has the declared dimensions; equal names stand for equal sizes.

        A dimension without size and name may have any size.
        """
        sizes: dict[str | int | None, int] = {}
        for entry in self._session.get_inputs():
            sizes |= dict(zip(entry.shape, inputs[entry.name].shape, strict=True))
        sizes[None] = -1
        for entry in self._session.get_outputs():
            shape = outputs[entry.name].shape if entry.name in outputs else entry.shape
            expected = [size if isinstance(size, int) else sizes.get(size, -1) for size in entry.shape]
            if len(shape) != len(expected) or any(a not in {-1, b} for a, b in zip(expected, shape, strict=True)):
                raise self._misfit(f"its output {entry.name} has the shape {shape}")

    def _misfit(self, problem: str) -> ModelError:
        return ModelError(
            self._file,
            f"has a network that does not fit the model's other files; copy or export the model again: {problem}",
        )


def _widths(values: Sequence[Any]) -> dict[str, int]:
    shapes = {value.name: value.shape for value in values}
    return {name: shape[-1] if shape and isinstance(shape[-1], int) else 0 for name, shape in shapes.items()}


def _table(tensor: Tensor, weights: bytes) -> npt.NDArray[Any]:
    """Return the array of a tensor that is stored in `weights`, the content of the file beside the network.

    Raise `ValueError` if `weights` is too short.
    """
    if tensor.stop > len(weights):
        raise ValueError(f"the weights {tensor.name.decode()!r} are not in the file beside it")
    return np.frombuffer(weights[tensor.start : tensor.stop], dtype=NUMBERS[tensor.type]).reshape(tensor.shape)


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

"""ONNX Runtime, set up so that a model gives the same answer every time."""

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
    """Turn an error about the content of a network into one that names its file."""
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
    """A network: named arrays in, named arrays out."""

    def __init__(  # noqa: PLR0913 - what is computed, by how many threads, and how much of it
        self,
        network: bytes,
        file: str,
        threads: int,
        sizes: Sequence[InputSizes],
        *,
        scale: int = 1,
        weights: bytes = b"",
    ) -> None:
        """Check a network for inputs of some sizes, and prepare it; see `demand_limits` for `scale`.

        `weights` is the content of the file beside it, if there is one. ONNX Runtime gets bytes and opens no file.
        """
        with naming(file):
            checked = read_network(network, f"{Path(file).name}{BESIDE}" if weights else "")
            for one in sizes:
                demand_limits(checked, one, len(network) + len(weights), scale)
            self._tables = {one.name.decode(): _table(one, weights) for one in checked.tables if one.beside}
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False  # one very long sentence would keep its memory for good
        options.enable_mem_pattern = False  # whose lock a thread may hold while another forks the process
        options.log_severity_level = 4  # what goes wrong is raised
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # others may need the cores
        options.add_session_config_entry("session.disable_quant_qdq", "1")  # weights of 8 bits become 32 at once
        if self._tables:
            values = map(onnxruntime.OrtValue.ortvalue_from_numpy, self._tables.values())
            options.add_external_initializers([*self._tables], [*values])
        try:
            self._session = onnxruntime.InferenceSession(
                network,
                options,
                providers=["CPUExecutionProvider"],
                enable_fallback=0,  # it would print that it tries again
            )
        except Exception as failure:
            raise ModelError(file, f"is no network that ONNX Runtime can compute: {failure}") from failure
        self.outputs: tuple[str, ...] = tuple(one.name for one in self._session.get_outputs())
        self.inputs: tuple[str, ...] = tuple(one.name for one in self._session.get_inputs())

    def width(self, output: str) -> int:
        """Tell the last size of an output."""
        return self.widths().get(output, 0)

    def widths(self) -> dict[str, int]:
        """Tell the last size of each output; 0 where it may vary."""
        return {
            one.name: one.shape[-1] if one.shape and isinstance(one.shape[-1], int) else 0
            for one in self._session.get_outputs()
        }

    def run(
        self, given: Mapping[str, npt.NDArray[Any]], outputs: Sequence[str] | None = None
    ) -> list[npt.NDArray[np.float32]]:
        """Give some outputs, or all of them; the runtime computes the others too."""
        out: list[npt.NDArray[np.float32]] = self._session.run(outputs, dict(given))
        return out


def _table(tensor: Tensor, weights: bytes) -> npt.NDArray[Any]:
    """Return the numbers of a tensor as a view of the file beside the network."""
    if tensor.stop > len(weights):
        raise ValueError(f"the weights {tensor.name.decode()!r} are not in the file beside it")
    return np.frombuffer(weights[tensor.start : tensor.stop], dtype=NUMBERS[tensor.type]).reshape(tensor.shape)


def cores() -> int:
    """Count the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

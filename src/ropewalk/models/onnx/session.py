"""ONNX Runtime, set up so that a model gives the same answer every time."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, final

from ropewalk.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

EXTERNAL = b"\x0a\x08location\x12"  # how ONNX begins to say in which other file the numbers of a tensor are
Arrays = dict[str, "npt.NDArray[Any]"]


@final
class Session:
    """A network: named arrays in, named arrays out."""

    def __init__(self, network: bytes | Path, file: str, threads: int) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False  # one very long sentence would keep its memory for good
        options.enable_mem_pattern = False  # whose lock a thread may hold while another forks the process
        options.log_severity_level = 4  # what goes wrong is raised
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # others may need the cores
        options.add_session_config_entry("session.disable_quant_qdq", "1")  # weights of 8 bits become 32 at once
        given = network if isinstance(network, bytes) else os.fspath(network)
        if isinstance(network, bytes) and EXTERNAL in network:  # would be sought in the current folder
            raise ModelError(file, "has weights in another file; expected them all in this one: export the model again")
        try:
            self._session = onnxruntime.InferenceSession(
                given,
                options,
                providers=["CPUExecutionProvider"],
                enable_fallback=0,  # it would print that it tries again
            )
        except Exception as failure:
            raise ModelError(file, f"is no network that can be computed: {failure}") from failure
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


def cores() -> int:
    """Count the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

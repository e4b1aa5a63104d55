"""The part of ONNX Runtime's Python interface that Ropewalk calls, computed by ONNX Runtime Web in the same worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, final

import networks
import numpy as np
from js import Object
from pyodide.ffi import to_js

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

__version__ = "web"
TYPES = {1: "<f4", 2: "u1", 3: "i1", 6: "<i4", 7: "<i8", 9: "?"}  # ONNX's numbers for types, as numpy names them
NUMBERS = {np.dtype(name): number for number, name in TYPES.items()}


class Described(NamedTuple):
    """Name, type and shape of an input or output; a dimension that may vary is None."""

    name: str
    type: str
    shape: list[int | None]


@final
class SessionOptions:
    """The options of a session. Those about threads and memory have no effect: there is one thread."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, str]] = []

    def add_session_config_entry(self, name: str, value: str) -> None:
        """Set the option `name`."""
        self.entries.append((name, value))


@final
class InferenceSession:
    """A network that ONNX Runtime Web computes."""

    def __init__(self, network: bytes, options: SessionOptions, **_: object) -> None:
        made = networks.create(to_js(network), to_js(options.entries))
        self._session = made.session
        self._inputs = [_described(entry) for entry in made.inputs]
        self._types = {entry.name: np.dtype(entry.type) for entry in self._inputs}  # some arrays here are narrower
        self._outputs = [_described(entry) for entry in made.outputs]

    def get_inputs(self) -> list[Described]:
        """Return the inputs of the network."""
        return self._inputs

    def get_outputs(self) -> list[Described]:
        """Return the outputs of the network."""
        return self._outputs

    def run(self, outputs: Sequence[str] | None, inputs: Mapping[str, npt.NDArray[Any]]) -> list[npt.NDArray[Any]]:
        """Compute the outputs with these names, or all."""
        names = [output.name for output in self._outputs] if outputs is None else list(outputs)
        given = [
            {
                "name": name,
                "type": NUMBERS[self._types[name]],
                "shape": list(array.shape),
                "content": _bytes(array.astype(self._types[name], casting="safe", copy=False)),
            }
            for name, array in inputs.items()
        ]
        found = networks.run(self._session, to_js(given, dict_converter=Object.fromEntries), to_js(names))
        return [_array(one) for one in found]


def _described(entry: Any) -> Described:  # noqa: ANN401 - an object of JavaScript
    return Described(entry.name, TYPES[entry.type], [None if length < 0 else length for length in entry.shape])


def _bytes(array: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _array(found: Any) -> npt.NDArray[Any]:  # noqa: ANN401 - an object of JavaScript
    return np.frombuffer(bytearray(found.content.to_bytes()), TYPES[found.type]).reshape(found.shape.to_py())

"""Simple recurrent units (SRU; Lei et al. 2018): gates depend on the input alone, so that only sums run word by word.

Each number of a word's vector has three gates from 0 to 1. For word t, with an input x from -1 to 1:

    candidate  z = 2 * gate - 1
    state      c = forget * c' + (1 - forget) * z,   c' is the state of the word before, or 0
    vector     h = keep * c + (1 - keep) * x

The first half of a vector is computed forwards, so that c' is the state of word t - 1, and the second half backwards.
States and vectors lie from -1 to 1, as inputs do.
"""

from __future__ import annotations

from typing import Any

try:
    import cython
except ImportError:
    from ropewalk.kernels import uncompiled as cython  # type: ignore[no-redef]

Floats = Any  # a buffer of float32 numbers in rows
Ints = Any


def gather(table: Floats, rows: Ints, offsets: Ints, vectors: Floats) -> None:
    """Add to each word's own vector what its two neighbours in the sentence add to it, and write it to `vectors`.

    Row `rows[t]` of `table` has three blocks, each as wide as a vector: the own vector of word t, what it adds to the
    next word, and what it adds to the last one.
    """
    with cython.nogil:
        width = vectors.shape[1]
        for s in range(offsets.shape[0] - 1):
            for t in range(offsets[s], offsets[s + 1]):
                for k in range(width):
                    vectors[t, k] = table[rows[t], k]
                if t > offsets[s]:
                    for k in range(width):
                        vectors[t, k] += table[rows[t - 1], width + k]
                if t + 1 < offsets[s + 1]:
                    for k in range(width):
                        vectors[t, k] += table[rows[t + 1], 2 * width + k]


def read(gates: Floats, inputs: Floats, offsets: Ints, states: Floats, vectors: Floats) -> None:
    """Compute `states` and `vectors` for all words; those of sentence s are `offsets[s]:offsets[s+1]`.

    A row of `gates` has three blocks, each as wide as a vector: candidates, forget gates, keep gates. Row 0 of `states`
    must hold zeros; the state of word t is written to row t + 1.
    """
    with cython.nogil:
        width = vectors.shape[1]
        half = width // 2
        for s in range(offsets.shape[0] - 1):
            for t in range(offsets[s], offsets[s + 1]):
                before = t if t > offsets[s] else 0
                step(gates, inputs, before, t, 0, half, states, vectors)
            for t in range(offsets[s + 1] - 1, offsets[s] - 1, -1):
                before = t + 2 if t + 1 < offsets[s + 1] else 0
                step(gates, inputs, before, t, half, width, states, vectors)


def step(
    gates: Floats, inputs: Floats, before: int, t: int, low: int, high: int, states: Floats, vectors: Floats
) -> None:
    """Compute the state and the vector of word t in the dimensions `low` up to, but without, `high`.

    Row `before` of `states` holds the preceding state.
    """
    width = vectors.shape[1]
    for k in range(low, high):  # two loops: C compilers make vector instructions of each, but not of one with both
        z = 2 * gates[t, k] - 1
        states[t + 1, k] = z + gates[t, width + k] * (states[before, k] - z)
    for k in range(low, high):
        x = inputs[t, k]
        vectors[t, k] = x + gates[t, 2 * width + k] * (states[t + 1, k] - x)


class Gradients:
    """The gradients for backpropagation: those of `vectors` are read, those of `gates` and `inputs` are computed.

    `carried` is a workspace with one number per dimension: the gradient of the state that later steps pass back.
    """

    def __init__(self, vectors: Floats, gates: Floats, inputs: Floats, carried: Floats) -> None:
        """Store the buffers."""
        self.vectors = vectors
        self.gates = gates
        self.inputs = inputs
        self.carried = carried


def differentiate(gates: Floats, inputs: Floats, offsets: Ints, states: Floats, gradients: Gradients) -> None:
    """Compute the gradients of `gates` and `inputs`, which have one row per word; `states` is the result of `read`."""
    with cython.nogil:
        width = inputs.shape[1]
        half = width // 2
        for s in range(offsets.shape[0] - 1):
            for k in range(width):
                gradients.carried[k] = 0
            for t in range(offsets[s + 1] - 1, offsets[s] - 1, -1):
                before = t if t > offsets[s] else 0
                step_back(gates, inputs, states, before, t, 0, half, gradients)
            for t in range(offsets[s], offsets[s + 1]):
                before = t + 2 if t + 1 < offsets[s + 1] else 0
                step_back(gates, inputs, states, before, t, half, width, gradients)


def step_back(
    gates: Floats, inputs: Floats, states: Floats, before: int, t: int, low: int, high: int, gradients: Gradients
) -> None:
    """Backpropagate through one `step` of word t, in the dimensions `low` up to, but without, `high`."""
    width = inputs.shape[1]
    for k in range(low, high):
        z = 2 * gates[t, k] - 1
        f = gates[t, width + k]
        r = gates[t, 2 * width + k]
        up = gradients.vectors[t, k]
        through = up * r + gradients.carried[k]
        gradients.gates[t, k] = 2 * through * (1 - f)
        gradients.gates[t, width + k] = through * (states[before, k] - z)
        gradients.gates[t, 2 * width + k] = up * (states[t + 1, k] - inputs[t, k])
        gradients.inputs[t, k] = up * (1 - r)
        gradients.carried[k] = through * f

"""Every error that Ropewalk raises on purpose, each with the data a caller needs.

::

    RopewalkError
    ├── TreeError               heads that are not a tree
    │   ├── MissingHeadError    a word without a head
    │   ├── HeadRangeError      a head outside the sentence
    │   ├── CycleError          words that hang on each other in a circle
    │   ├── RootError           not exactly one root where one is demanded
    │   └── CrossingsError      too many crossing arcs to lift
    ├── GraphError              arcs that are not a graph
    ├── FormatError             a file that is not what it should be: where, what was found, what was expected
    ├── UnknownNameError        nothing of that name: encoding, policy, column, …; the known ones are listed
    ├── EncodingError           an encoding that cannot be had or used
    │   ├── EncodingOptionError an option that the encoding does not take, or a wrong value: an OptionError too
    │   ├── UncoveredTreeError  a tree that the encoding cannot write, with the arcs that stand in the way
    │   ├── UncoveredGraphError a graph that the encoding cannot write, with the arcs that do not fit
    │   └── LabelError          a label that the encoding does not have
    ├── OptionError             an option of a function or a command that does not fit, or a wrong value
    ├── MismatchError           inputs that should agree and do not, or an array that is not what is expected
    ├── ConfigError             an option of a model, a training or a program that is unknown or has a wrong value
    ├── ModelError              a model folder that is damaged, incomplete or something else
    ├── TrainingError           a training run that cannot begin or go on
    ├── CorpusError             a corpus that cannot be parsed, or not to its end
    ├── WorkerError             a process that died again and again over the same work
    ├── RequestError            a request that a server refuses, with the status of the answer
    │   └── RequestTooLargeError   a request that is larger than the server takes
    └── MissingExtraError       a package that comes with an extra is needed and not installed
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence


class RopewalkError(Exception):
    """The base of all errors that Ropewalk raises on purpose."""

    def __reduce__(self) -> tuple[object, ...]:
        # Whatever a constructor takes, an error reaches another process with its message and data.
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[RopewalkError], args: tuple[object, ...], data: dict[str, object]) -> RopewalkError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(data)
    return error


class TreeError(RopewalkError):
    """Heads that are not a tree; `word` is the first word at fault, counted from 1.

    `sentence` counts from 1 among those handed over together; it is 0 where there is just one.
    """

    def __init__(self, message: str, word: int) -> None:
        super().__init__(message)
        self.word = word
        self.sentence = 0

    def __str__(self) -> str:
        message = super().__str__()
        return f"sentence {self.sentence}: {message}" if self.sentence else message


class CrossingsError(TreeError):
    """A tree with too many crossing arcs to lift."""

    def __init__(self, sentence: int, crossed: int, most: int) -> None:
        self.problem = (
            f"the tree has {crossed:,} arcs that cross others; at most {most} are lifted: use an encoding "
            "that covers them, such as optimal-nonprojective or absolute"
        )
        super().__init__(self.problem, 0)
        self.sentence = sentence


class MissingHeadError(TreeError):
    """A word without a head."""

    def __init__(self, word: int) -> None:
        super().__init__(f"word {word}: it has no head; every word needs one (0 is the root)", word)


class HeadRangeError(TreeError):
    """A head outside the sentence."""

    def __init__(self, word: int, head: int, words: int) -> None:
        super().__init__(f"word {word}: HEAD is {head}, but the sentence has {words} words", word)
        self.head = head
        self.words = words


class CycleError(TreeError):
    """Words that hang on each other in a circle, the lowest first."""

    def __init__(self, cycle: Sequence[int]) -> None:
        path = " -> ".join(str(word) for word in [*cycle, cycle[0]])
        super().__init__(f"word {cycle[0]}: heads form a cycle, {path}, that never reaches the root", cycle[0])
        self.cycle = tuple(cycle)


class RootError(TreeError):
    """Not exactly one root where one is demanded."""

    def __init__(self, roots: Sequence[int]) -> None:
        named = ", ".join(str(root) for root in roots)
        super().__init__(f"word {roots[1]}: a second root; one root is demanded, found {named}", roots[1])
        self.roots = tuple(roots)


class GraphError(RopewalkError):
    """Arcs that are not a graph over the words of the sentence."""


class FormatError(RopewalkError):
    """A file that is not what it should be.

    `kind` is a short fixed name for the problem, `line` counts from 1 (0: the file as a whole), `word` is the
    ID as written, or empty.
    """

    def __init__(self, file: str, line: int, kind: str, message: str, *, word: str = "") -> None:
        self.file = file
        self.line = line
        self.kind = kind
        self.word = word
        self.message = message
        super().__init__(str(self))

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: word {self.word}: {self.message}" if self.word else f"{place}: {self.message}"


class EncodingError(RopewalkError):
    """An encoding that cannot be had or used."""


class UnknownNameError(RopewalkError):
    """No such name; the message lists the known ones and the nearest of them."""

    def __init__(self, what: str, name: object, known: Iterable[str]) -> None:
        self.what = what
        self.name = name
        self.known = tuple(known)
        near = difflib.get_close_matches(name, self.known, n=1) if isinstance(name, str) else []
        hint = f"; did you mean {near[0]!r}?" if near else ""
        super().__init__(
            f"unknown {what} {name!r}{hint} Known: {', '.join(self.known)}"
            if near
            else f"unknown {what} {name!r}; known: {', '.join(self.known)}"
        )


def demand_known(what: str, name: object, known: Collection[str]) -> None:
    """Refuse what is none of some names, whatever it is."""
    if not isinstance(name, str) or name not in known:
        raise UnknownNameError(what, name, known)


def demand_type(what: str, value: object, *types: type) -> None:
    """Raise unless a value is of one of some types."""
    if not isinstance(value, types):
        expected = " or ".join(one.__name__ for one in types)
        raise MismatchError(f"{what}: found {type(value).__name__}; expected {expected}")


def demand_sequence(what: str, values: object, *types: type) -> None:
    """Raise unless values are a sequence, and each is of one of some types; text counts as one value."""
    if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__len__") or not hasattr(values, "__iter__"):
        raise MismatchError(f"{what}: found {type(values).__name__}; expected a list")
    for value in values:
        demand_type(what, value, *types)


class OptionError(RopewalkError):
    """An option of a function or a command that does not fit the others, or a value that it does not take."""


class EncodingOptionError(EncodingError, OptionError):
    """An option that the encoding does not take, or a value that it does not take."""


class UncoveredTreeError(EncodingError):
    """A tree that the encoding cannot write; `sentence` counts from 1, `arcs` are (head, dependent) pairs."""

    def __init__(self, encoding: str, sentence: int, arcs: Sequence[tuple[int, int]], why: str) -> None:
        self.encoding = encoding
        self.sentence = sentence
        self.arcs = tuple(arcs)
        shown = ", ".join(f"{head}->{dependent}" for head, dependent in self.arcs[:6])
        more = f" and {len(self.arcs) - 6} more" if len(self.arcs) > 6 else ""
        super().__init__(
            f"sentence {sentence}: {encoding} cannot write this tree: {why}: {shown}{more}; "
            "use the policy 'lift', a pseudo-projective scheme (+head) or a non-projective encoding"
        )


class UncoveredGraphError(EncodingError):
    """A graph that the encoding cannot write; `sentence` counts from 1, `arcs` are the pairs that do not fit."""

    def __init__(self, encoding: str, sentence: int, arcs: Sequence[tuple[int, int]]) -> None:
        self.encoding = encoding
        self.sentence = sentence
        self.arcs = tuple(arcs)
        shown = ", ".join(f"{head}->{dependent}" for head, dependent in self.arcs[:6])
        more = f" and {len(self.arcs) - 6} more" if len(self.arcs) > 6 else ""
        super().__init__(
            f"sentence {sentence}: {encoding} cannot write this graph: arcs that fit in no plane: {shown}{more}; "
            "use the policy 'drop', more planes, or optimal-nonprojective"
        )


class LabelError(EncodingError):
    """A label that the encoding does not have."""

    def __init__(self, encoding: str, label: str, expected: str) -> None:
        self.encoding = encoding
        self.label = label
        super().__init__(f"{label!r} is not a label of {encoding}; expected {expected}")


class MismatchError(RopewalkError):
    """Two inputs that should agree and do not, or an array of the wrong kind, shape or range."""


class MissingExtraError(RopewalkError):
    """A package that comes with an extra is needed and not installed."""

    def __init__(self, what: str, package: str, extra: str) -> None:
        self.package = package
        self.extra = extra
        super().__init__(
            f"{what} need {package}, which is not installed; install it with: pip install ropewalk[{extra}]"
        )


class ConfigError(RopewalkError):
    """An option that is unknown or has a value that it does not take; `key` says which, `source` where it was given."""

    def __init__(self, source: str, key: str, message: str) -> None:
        self.source = source
        self.key = key
        super().__init__(f"{source}: {key} {message}" if key else f"{source}: {message}")


class ModelError(RopewalkError):
    """A model folder that is damaged, incomplete or something else; `file` is the file at fault."""

    def __init__(self, file: str, message: str) -> None:
        self.file = file
        super().__init__(f"{file}: {message}")


class TrainingError(RopewalkError):
    """A training run that cannot begin or go on."""


class CorpusError(RopewalkError):
    """A corpus that cannot be parsed, or not to its end."""


class WorkerError(RopewalkError):
    """A process that died again and again over the same work; `task` counts from 1, 0 before there was any."""

    def __init__(self, task: int, deaths: int) -> None:
        self.task = task
        self.deaths = deaths
        where = f"{deaths} processes died over part {task} of the input" if task else "a process died as it began"
        super().__init__(f"{where}; most likely memory ran out: try fewer jobs, or one to see what happens")


class RequestError(RopewalkError):
    """A request that a server refuses; `status` is that of HTTP, `retry_after` how many seconds to wait, if known."""

    def __init__(self, status: int, message: str, *, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


class RequestTooLargeError(RequestError):
    """A request that is larger than the server takes."""

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(413, f"the request is too large for {address}: {reason or 'send it in parts'}")

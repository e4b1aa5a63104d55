"""Every error that Ropewalk raises on purpose, each with the data that a caller needs.

::

    RopewalkError
    ├── TreeError               heads that are not a tree
    │   ├── MissingHeadError    a word without a head
    │   ├── HeadRangeError      a head outside the sentence
    │   ├── CycleError          heads that form a cycle
    │   ├── RootError           several roots where one is required
    │   └── CrossingsError      too many crossing arcs for pseudo-projective lifting
    ├── GraphError              arcs that are not a graph
    ├── FormatError             a file whose content is not as expected: file, line, problem
    ├── UnknownNameError        an unknown name of an encoding, policy, column, …; the known ones are listed
    ├── EncodingError           an encoding that cannot be used
    │   ├── EncodingOptionError an unknown option of an encoding, or a wrong value: an OptionError too
    │   ├── UncoveredTreeError  a tree that the encoding cannot write, with the arcs that prevent it
    │   ├── UncoveredGraphError a graph that the encoding cannot write, with the arcs that do not fit
    │   └── LabelError          a label that the encoding does not have
    ├── PatternError            a search pattern with a syntax error, and its position
    ├── SearchLimitError        a search that takes too long or has too many matches
    ├── OptionError             an option of a function or a command that contradicts others, or a wrong value
    ├── MismatchError           inputs that contradict each other, or an array with a wrong type or shape
    ├── ConfigError             an option of a model, a training or a program that is unknown or has a wrong value
    ├── ModelError              a model that cannot be used, such as a damaged or incomplete folder
    │   └── UnknownModelError   no model or folder has that name; the installed ones are listed
    ├── TrainingError           a training run that cannot start or continue
    ├── CorpusError             a corpus that cannot be parsed, or only in part
    ├── WorkerError             a process that died repeatedly on the same task
    ├── RequestError            a request that a server refuses, with the status of the response
    │   └── RequestTooLargeError   a request that is larger than the server allows
    └── MissingExtraError       a missing package that an extra installs
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence


MOST_NAMED = 12  # models that an error lists by name


class RopewalkError(Exception):
    """The base of all errors that Ropewalk raises on purpose."""

    def __reduce__(self) -> tuple[object, ...]:
        # An error reaches another process with its message and data, whatever the parameters of its constructor.
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[RopewalkError], args: tuple[object, ...], data: dict[str, object]) -> RopewalkError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(data)
    return error


class TreeError(RopewalkError):
    """Heads that are not a tree; `word` is the first wrong word, counted from 1 (0 if the error is of no single word).

    `sentence` is the number of the sentence, counted from 1, in a call with several sentences. It is 0 if the call had
    only one sentence.
    """

    def __init__(self, message: str, word: int) -> None:
        super().__init__(message)
        self.word = word
        self.sentence = 0

    def explain(self, sentence: int, advice: str) -> None:
        """Set the number of the sentence, counted from 1, and append `advice` on what to do to the message."""
        self.sentence = sentence
        self.args = (f"{self.args[0]}; {advice}",)

    def __str__(self) -> str:
        message = super().__str__()
        return f"sentence {self.sentence}: {message}" if self.sentence else message


class CrossingsError(TreeError):
    """A tree with too many crossing arcs for pseudo-projective lifting."""

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
    """A word whose `head` is outside the sentence, which has `words` words."""

    def __init__(self, word: int, head: int, words: int) -> None:
        super().__init__(f"word {word}: HEAD is {head}, but the sentence has {words} words", word)
        self.head = head
        self.words = words


class CycleError(TreeError):
    """Heads that form a cycle; `cycle` holds its words, counted from 1, beginning with the lowest."""

    def __init__(self, cycle: Sequence[int]) -> None:
        path = " -> ".join(str(word) for word in [*cycle, cycle[0]])
        super().__init__(f"word {cycle[0]}: heads form a cycle, {path}, that never reaches the root", cycle[0])
        self.cycle = tuple(cycle)


class RootError(TreeError):
    """Several roots where one is required; `roots` holds their words, counted from 1."""

    def __init__(self, roots: Sequence[int]) -> None:
        named = ", ".join(str(root) for root in roots)
        super().__init__(f"word {roots[1]}: a second root; expected one, found {named}", roots[1])
        self.roots = tuple(roots)


class GraphError(RopewalkError):
    """Arcs that are not a graph over the words of the sentence."""


class FormatError(RopewalkError):
    """A file whose content is not as expected.

    `kind` is a short fixed name of the problem. `line` counts from 1; it is 0 if the problem concerns the whole file.
    `word` is the ID of the word as written in the file, and `sentence` the `sent_id`; both are empty if unknown.
    """

    def __init__(  # noqa: PLR0913 - where and what
        self, file: str, line: int, kind: str, message: str, *, word: str = "", sentence: str | None = None
    ) -> None:
        self.file = file
        self.line = line
        self.kind = kind
        self.word = word
        self.sentence = sentence or ""
        self.message = message
        super().__init__(str(self))

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: word {self.word}: {self.message}" if self.word else f"{place}: {self.message}"


class EncodingError(RopewalkError):
    """The base of errors of encodings: an encoding, or its use on a tree, graph or label, is not possible."""


class UnknownNameError(RopewalkError):
    """An unknown name; the message lists the `known` names, and suggests the most similar one."""

    def __init__(self, what: str, name: object, known: Iterable[str]) -> None:
        self.what = what
        self.name = name
        self.known = tuple(known)
        import difflib  # only errors need it

        near = difflib.get_close_matches(name, self.known, n=1) if isinstance(name, str) else []
        hint = f"; did you mean {near[0]!r}?" if near else ""
        super().__init__(
            f"unknown {what} {name!r}{hint} Known: {', '.join(self.known)}"
            if near
            else f"unknown {what} {name!r}; known: {', '.join(self.known)}"
        )


def demand_known(what: str, name: object, known: Collection[str]) -> None:
    """Raise `UnknownNameError` unless `name` is one of `known`; `what` is the kind of name in the message."""
    if not isinstance(name, str) or name not in known:
        raise UnknownNameError(what, name, known)


def demand_type(what: str, value: object, *types: type) -> None:
    """Raise `MismatchError` unless `value` has one of `types`; `what` names the value in the message."""
    if not isinstance(value, types):
        expected = " or ".join(kind.__name__ for kind in types)
        raise MismatchError(f"{what}: found {type(value).__name__}; expected {expected}")


def demand_sequence(what: str, values: object, *types: type) -> None:
    """Raise `MismatchError` unless `values` is a sequence whose items have one of `types`.

    Texts, bytes and mappings do not count as sequences. `what` names the values in the message.
    """
    is_one = isinstance(values, str | bytes | Mapping) or getattr(values, "ndim", 1) == 0  # an array without dimensions
    if is_one or not hasattr(values, "__len__") or not hasattr(values, "__iter__"):
        raise MismatchError(f"{what}: found {type(values).__name__}; expected a list")
    for value in values:
        demand_type(what, value, *types)


class OptionError(RopewalkError):
    """An option of a function or a command that contradicts others, or a wrong value."""


class EncodingOptionError(EncodingError, OptionError):
    """An unknown option of an encoding, or a wrong value of an option."""


class UncoveredTreeError(EncodingError):
    """A tree that the encoding cannot write.

    `sentence` counts from 1. `arcs` are the (head, dependent) pairs that prevent it.
    """

    def __init__(self, encoding: str, sentence: int, arcs: Sequence[tuple[int, int]], why: str) -> None:
        self.encoding = encoding
        self.sentence = sentence
        self.arcs = tuple(arcs)
        shown = _shown_arcs(self.arcs)
        super().__init__(
            f"sentence {sentence}: {encoding} cannot write this tree: {why}: {shown}; "
            "use the policy 'lift', a pseudo-projective scheme (+head) or a non-projective encoding"
        )


def _shown_arcs(arcs: Sequence[tuple[int, int]]) -> str:
    more = f" and {len(arcs) - 6} more" if len(arcs) > 6 else ""
    return ", ".join(f"{head}->{dependent}" for head, dependent in arcs[:6]) + more


class UncoveredGraphError(EncodingError):
    """A graph that the encoding cannot write.

    `sentence` counts from 1. `arcs` are the (head, dependent) pairs that fit in no plane.
    """

    def __init__(self, encoding: str, sentence: int, arcs: Sequence[tuple[int, int]]) -> None:
        self.encoding = encoding
        self.sentence = sentence
        self.arcs = tuple(arcs)
        super().__init__(
            f"sentence {sentence}: {encoding} cannot write this graph: arcs that fit in no plane: "
            f"{_shown_arcs(self.arcs)}; "
            "use the policy 'drop', more planes, or optimal-nonprojective"
        )


class LabelError(EncodingError):
    """A `label` that is not in the alphabet of the encoding."""

    def __init__(self, encoding: str, label: str, expected: str) -> None:
        self.encoding = encoding
        self.label = label
        super().__init__(f"{label!r} is not a label of {encoding}; expected {expected}")


class PatternError(RopewalkError):
    """A search pattern with a syntax error; `position` is the index of the wrong character, from 0."""

    def __init__(self, problem: str, pattern: str, position: int) -> None:
        self.problem = problem
        self.pattern = pattern
        self.position = position
        start = max(0, position - 60)
        shown = "".join(sign if sign.isprintable() else " " for sign in pattern[start : position + 40])
        super().__init__(f"character {position + 1}: {problem}\n  {shown}\n  {' ' * (position - start)}^")


class SearchLimitError(RopewalkError):
    """A search that takes too long or has too many matches."""


class MismatchError(RopewalkError):
    """Inputs that contradict each other, or an array with a wrong type, shape or range."""


class MissingExtraError(RopewalkError):
    """A missing `package` of Python; `extra` is the optional dependency group of Ropewalk that installs it."""

    def __init__(self, what: str, package: str, extra: str) -> None:
        self.package = package
        self.extra = extra
        super().__init__(
            f"{what} need {package}, which is not installed; install it in a clone of Ropewalk with: "
            f"pip install -c constraints.txt '.[{extra}]'"
        )


class ConfigError(RopewalkError):
    """An option that is unknown or has a wrong value; `key` is its name, `source` the file or call that sets it."""

    def __init__(self, source: str, key: str, message: str) -> None:
        self.source = source
        self.key = key
        super().__init__(f"{source}: {key} {message}" if key else f"{source}: {message}")


class ModelError(RopewalkError):
    """A model that cannot be used, such as a damaged or incomplete folder; `file` is the file or model at fault."""

    def __init__(self, file: str, message: str) -> None:
        self.file = file
        super().__init__(f"{file}: {message}")


class UnknownModelError(ModelError):
    """No model or folder has that name; `installed` lists installed models, `available` those that can be installed."""

    def __init__(self, name: str, installed: Sequence[str], available: Sequence[str], how: str) -> None:
        self.file = name
        self.installed = tuple(installed)
        self.available = tuple(available)
        problem = (
            f'The model "{name}" is not installed.'
            if name in self.available
            else f'No installed model or folder is named "{name}".'
        )
        many = len(self.available) > MOST_NAMED
        named = (
            f"one of {len(self.available)} others (ropewalk models lists them)" if many else ", ".join(self.available)
        )
        others = [] if name in self.available else [named]
        to_install = " ".join(["To install", *filter(None, others)])
        RopewalkError.__init__(
            self,
            f"{problem} Installed: {', '.join(self.installed) or 'none'}. {to_install}: {how}. A folder that ropewalk "
            "train or export wrote can be named too.",
        )


class TrainingError(RopewalkError):
    """A training run that cannot start or continue."""


class CorpusError(RopewalkError):
    """A corpus that cannot be parsed, or only in part."""


class WorkerError(RopewalkError):
    """A worker process that died: repeatedly during the same task, or at its start.

    `task` is the number of the task, counted from 1, or 0 if the process died before its first task.
    """

    def __init__(self, task: int, deaths: int) -> None:
        self.task = task
        self.deaths = deaths
        where = f"{deaths} processes died over part {task} of the input" if task else "a process died at its start"
        super().__init__(f"{where}; most likely memory ran out: use fewer jobs, or one to see the error")


class RequestError(RopewalkError):
    """A request that a server refuses or does not answer.

    `status` is the HTTP status. `retry_after` is the number of seconds to wait before the next try, None if unknown.
    """

    def __init__(self, status: int, message: str, *, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


class RequestTooLargeError(RequestError):
    """A request that is larger than the server allows."""

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(413, f"the request is too large for {address}: {reason or 'send it in parts'}")

"""Annotation of a corpus with Ray, on all cores or a cluster.

The corpus is divided into parts, each the input of one output file (shard). Ray Data distributes the parts to workers
and repeats those whose worker died. A part that is done has a record: a JSON file with its counts, size and hash.
"""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import math
import os
import pickle
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from ropewalk.corpus import manifest as manifests
from ropewalk.corpus import partition, readers, shards, stores
from ropewalk.corpus.options import LEAST_SHARD, RunOptions
from ropewalk.corpus.report import Counts, slowest
from ropewalk.errors import CorpusError, OptionError, RopewalkError
from ropewalk.loading import HUB
from ropewalk.models.catalogue import locate
from ropewalk.parallel.workers import cores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ropewalk.corpus.manifest import Manifest
    from ropewalk.corpus.options import FilePart, Options
    from ropewalk.corpus.partition import File, Keys

Task = TypeVar("Task")
Result = TypeVar("Result")

OBJECTS = 256 << 20  # bytes of Ray's object store on this machine: only records pass through it
FILES = 64  # files that one task inspects
MOST_WORKERS = 256  # on one machine, as for `ropewalk serve`
FEW = 32 << 20  # bytes; inspecting fewer is faster than starting Ray


@dataclass(slots=True)
class RunState:
    """The progress of a run: the number of parts, the records of parts that are done, and the sums of their counts."""

    parts: int
    before: int = 0  # parts that earlier runs have done
    records: list[dict[str, Any]] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)

    def add(self, record: dict[str, Any]) -> None:
        """Add the record of a part that is done, and its counts."""
        self.records.append(record)
        self.counts.merge(Counts.of_json(record["counts"]))

    @property
    def done(self) -> int:
        """The number of parts that are done."""
        return len(self.records)


def run(  # noqa: PLR0913 - what, how, and whom to tell
    inputs: Sequence[str],
    out: str,
    options: Options,
    running: RunOptions = RunOptions(),
    *,
    model: str = "en",
    tell: Callable[[str], None] = lambda _: None,
    follow: Callable[[RunState], None] = lambda _: None,
) -> RunState:
    """Parse all documents in the files and folders `inputs`, and write shards to the folder `out`.

    If `out` has the output of an interrupted run with the same inputs and options, that run is continued: parts that
    are done are skipped. A part is done if it has a record and its shard has the recorded size. `tell` is called with
    messages, and `follow` with the state after each part. Return the final state.
    """
    from ropewalk.pipeline import load

    shards.demand_names_apart(options)
    if running.workers is not None and not 1 <= running.workers <= MOST_WORKERS:
        raise OptionError(f"found {running.workers} workers; expected 1 to {MOST_WORKERS} processes on this machine")
    if not isinstance(options.shard, float | int) or not LEAST_SHARD <= options.shard < math.inf:
        raise OptionError(f"shard is {options.shard!r}; expected at least {LEAST_SHARD} megabytes")
    out = out.rstrip("/") or "/"
    generator = load(model, options.parsing, threads=1).generator
    known = manifests.load(out)
    files, unknown = partition.find(inputs, out)
    if not files:
        endings = ", ".join(readers.KINDS)
        raise CorpusError(f"{', '.join(inputs)}: there are no files to read; expected some outside {out}, of {endings}")
    if unknown:
        tell(f"{len(unknown)} files are skipped, because their names do not show their format: {unknown[0]}, …")
    with contextlib.ExitStack() as stack:
        model = _anywhere(model)
        warm = functools.partial(shards.warm, model, generator, options)
        start = functools.cache(
            lambda: stack.enter_context(_ray(running.address, running.workers, warm))
        )  # started when needed, and once
        if known is None:
            tell(f"{len(files)} files to inspect")
            few = len(files) <= FILES and sum(file.size for file in files) <= FEW
            if not few:
                start()
            known = _plan(files, generator, options, few=few)
            manifests.save(out, known)
        else:
            manifests.demand_same(out, known, generator, options)
            manifests.demand_same_files(out, known, files, lambda file: partition.inspect(file, options)[0])
        parts = partition.parts(known.files, known.doubles, options, str(Path.cwd()))
        state = RunState(len(parts))
        _note_files(out, known, state)
        for record in _done(out, parts, options, verify=running.verify):
            state.add(record)
        state.before = state.done
        follow(state)
        _demand_few(state, running.max_errors, out)
        names = {record["name"].partition(".")[0] for record in state.records}
        missing = [part for part in parts if part.name not in names]
        stores.clear(f"{out}/{shards.TRIES}")
        if missing:
            start()
        annotate = functools.partial(
            shards.annotate, out=stores.absolute(out), model=model, generator=generator, options=options
        )
        for record in _mapped(annotate, missing, len(missing)):
            state.add(record)
            follow(state)
            _demand_few(state, running.max_errors, out)
    state.records.sort(key=lambda record: str(record["name"]))
    _finish(out, known, state)
    return state


def _anywhere(model: str) -> str:
    """Return a name of `model` that workers in other folders can load: a path becomes absolute, other names stay."""
    return model if model.startswith(HUB) or locate(model) != Path(model) else stores.absolute(model)


def _finish(out: str, manifest: Manifest, state: RunState) -> None:
    """Write the final manifest and `report.json`, and remove temporary files of killed workers."""
    totals = ("documents", "sentences", "words", "errors")
    few = [{**record, "counts": {name: record["counts"][name] for name in totals}} for record in state.records]
    manifests.save(out, manifest, few)
    slow = [
        {"shard": record["name"], "words": record["counts"]["words"], "seconds": record["seconds"]}
        for record in slowest(state.records)
    ]
    report = state.counts.to_json() | {"slowest": slow}
    stores.write(f"{out}/report.json", json.dumps(report, ensure_ascii=False, indent=1).encode("utf-8"))
    stores.clear(f"{out}/{shards.TRIES}")
    for folder in (shards.DATA, shards.ERRORS, shards.DONE):
        stores.tidy(f"{out}/{folder}")


def _note_files(out: str, manifest: Manifest, state: RunState) -> None:
    """Count the input files that cannot be read at all as errors, and write the reasons to the folder of errors."""
    bad = [{"id": None, "file": file.path, "place": 0, "reason": file.error} for file in manifest.files if file.error]
    state.counts.errors += len(bad)
    if bad:
        lines = [json.dumps(error, ensure_ascii=False) + "\n" for error in bad]
        stores.write(f"{out}/{shards.ERRORS}/files.jsonl", "".join(lines).encode("utf-8", "replace"))


def _demand_few(state: RunState, most: int | None, out: str) -> None:
    if most is not None and state.counts.errors > most:
        raise CorpusError(
            f"{state.counts.errors} documents or files were set aside, more than {most}; see {out}/{shards.ERRORS} for "
            f"the reasons; {state.done} of {state.parts} shards are done and stay"
        )


def _done(out: str, parts: Iterable[FilePart], options: Options, *, verify: bool) -> Iterator[dict[str, Any]]:
    """Yield the records of the parts that are done: their shards exist and have the recorded size.

    With `verify`, the shards must also have the recorded hash.
    """
    data = stores.below(f"{out}/{shards.DATA}")
    records = stores.below(f"{out}/{shards.DONE}")
    for part in parts:
        if f"{part.name}.json" in records and f"{part.name}.{options.output}" in data:
            record = json.loads(stores.read(f"{out}/{shards.DONE}/{part.name}.json") or b"{}")
            shard = record.get("name", "")
            same = shard in data and record["bytes"] == data[shard]
            if same and (not verify or record["sha256"] == stores.sha256(f"{out}/{shards.DATA}/{shard}")):
                yield record


def _plan(files: Sequence[File], generator: str, options: Options, *, few: bool) -> Manifest:
    """Inspect all files, find repeated document ids, and return the manifest.

    If `few`, the files are inspected in this process, else on the cluster.
    """
    doubles = partition.Doubles()
    inspected: dict[int, File] = {}
    for number, file, keys in _looked(files, options, here=few):
        inspected[number] = file
        doubles.add(keys, number)
    known = tuple(inspected[number] for number in range(len(files)))
    return manifests.Manifest(generator, options.to_json(), known, tuple(sorted(doubles.repeated())))


def _looked(files: Sequence[File], options: Options, *, here: bool) -> Iterator[tuple[int, File, Keys]]:
    """Inspect files in this process if `here`, else on the cluster; yield index, inspected file and document ids."""
    if here:
        for number, file in enumerate(files):
            yield number, *partition.inspect(file, options)
        return
    there = [(number, replace(file, path=stores.absolute(file.path))) for number, file in enumerate(files)]
    blocks = max(len(there) // FILES, min(len(there), 256))
    for number, (file, keys) in _mapped(functools.partial(_inspected, options), there, blocks):
        yield number, replace(file, path=files[number].path), keys


def _inspected(options: Options, numbered: tuple[int, File]) -> tuple[int, tuple[File, Keys]]:
    number, file = numbered
    return number, partition.inspect(file, options)


def _mapped(function: Callable[[Task], Result], tasks: Sequence[Task], blocks: int) -> Iterator[Result]:
    """Apply a function to tasks on the Ray cluster; yield each result as soon as it is ready, in any order.

    The tasks are divided into `blocks` blocks. Tasks of workers and nodes that die are repeated. Ray's tasks are used
    rather than its actors, because a task can run on any node, even one that has joined later. The model stays loaded
    in a worker process between tasks.
    """
    if not tasks:
        return
    import ray
    from ray.exceptions import RayError, UserCodeException

    data = ray.data.from_items([{"task": pickle.dumps(task)} for task in tasks], override_num_blocks=blocks)
    work = functools.partial(_applied, function=function)
    try:
        for row in data.map_batches(work, batch_size=None, batch_format="pyarrow", num_cpus=1).iter_rows():
            yield pickle.loads(row["result"])  # noqa: S301 - written by a worker of this run
    except (RayError, UserCodeException) as failure:
        raise _ours(failure) from failure


def _applied(table: pa.Table, function: Callable[[Any], Any]) -> Iterator[pa.Table]:
    """Apply `function` to the pickled tasks in a table of Ray Data; yield a table with each pickled result."""
    for task in table.column("task").to_pylist():
        result = function(pickle.loads(task))  # noqa: S301 - written by the driver of this run
        yield pa.table({"result": [pickle.dumps(result)]})


def _ours(failure: BaseException) -> RopewalkError:
    """Return the `RopewalkError` inside an exception of Ray, else a `CorpusError` with the last line of its message."""
    seen: BaseException | None = failure
    while seen is not None:
        if isinstance(seen, RopewalkError):
            return seen
        seen = getattr(seen, "cause", None) or seen.__cause__
    lines = [line for line in str(failure).splitlines() if line.strip()] or [type(failure).__name__]
    return CorpusError(f"Ray gave up: {lines[-1].strip()}; finished parts stay: run the same command again to continue")


@contextlib.contextmanager
def _ray(address: str | None, workers: int | None, warm: Callable[[], None]) -> Iterator[None]:
    """Join the Ray cluster at `address`, or start Ray with `workers` processes on this machine.

    The connection ends, or Ray stops, after the `with` block. Ray is started without a dashboard and usage reports. On
    this machine, each worker runs `warm` at once, which loads the model while this process imports Ray Data.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_agent_register_timeout_ms", "120000")  # the default is too short on a busy machine
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # no warning about GPUs
    if address is None:
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # on every system, use only the loopback interface
        os.environ.setdefault(
            "RAY_worker_niceness", "0"
        )  # by default workers have a lower priority than other programs
        os.environ.setdefault("RAY_enable_autoscaler_v2", "1")  # version 1 takes a second to stop
    import ray

    try:
        if address is None:
            count = workers or cores()
            ray.init(
                "local",
                num_cpus=count,
                include_dashboard=False,
                object_store_memory=OBJECTS,
                logging_level=logging.ERROR,
                log_to_driver=False,
            )
            task = ray.remote(num_cpus=1, max_retries=0)(_warmed)
            for _ in range(count):
                task.remote(warm)
        else:
            _join(address)
        _quiet_data()
        yield
    finally:
        ray.shutdown()


def _join(address: str) -> None:
    import ray
    from ray.exceptions import RayError

    try:
        ray.init(address, logging_level=logging.ERROR, log_to_driver=False)
    except (RayError, OSError, RuntimeError, ValueError) as failure:
        raise CorpusError(
            f"{address}: Ray cannot join the cluster: {stores.why(failure)}; pass the address of a cluster that "
            "ray start --head has started; if it needs a token, set RAY_AUTH_MODE=token and use the same token here"
        ) from failure


def _warmed(warm: Callable[[], None]) -> None:
    """Call `warm` and ignore its exceptions; they happen again, and are reported, in the first task."""
    with contextlib.suppress(Exception):
        warm()


def _quiet_data() -> None:
    """Import Ray Data and switch off its output."""
    import ray.data

    logging.getLogger("ray.data").setLevel(logging.ERROR)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    context.execution_options.preserve_order = False

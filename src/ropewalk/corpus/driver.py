"""A whole corpus on Ray, on all cores or on a cluster: Ray Data hands out the parts and minds deaths."""

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
from ropewalk.corpus import partition, shards, sources, stores
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

OBJECTS = 256 << 20  # bytes of Ray's object store on this machine: nothing but records passes through it
FILES = 64  # that are looked into by one task
MOST_WORKERS = 256  # on one machine, as `ropewalk serve` has
FEW = 32 << 20  # bytes of so many files are looked into sooner than Ray has started


@dataclass(slots=True)
class RunState:
    """How far a run is: parts that are done, of how many, and what they hold."""

    parts: int
    before: int = 0  # parts that an earlier run has done
    records: list[dict[str, Any]] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)

    def add(self, record: dict[str, Any]) -> None:
        """Note that a part is done."""
        self.records.append(record)
        self.counts.merge(Counts.of_json(record["counts"]))

    @property
    def done(self) -> int:
        """How many parts are done."""
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
    """Parse all documents of some files and folders into the shards of a folder; what is done already stays.

    What is done counts as done if its shard has the size that was written. `tell` is given messages, `follow` the state
    whenever a part is done.
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
        endings = ", ".join(sources.KINDS)
        raise CorpusError(f"{', '.join(inputs)}: there are no files to read; expected some outside {out}, of {endings}")
    if unknown:
        tell(f"{len(unknown)} files are left out, since their names do not tell what they hold: {unknown[0]}, …")
    with contextlib.ExitStack() as stack:
        model = _anywhere(model)
        warm = functools.partial(shards.warm, model, generator, options)
        start = functools.cache(
            lambda: stack.enter_context(_ray(running.address, running.workers, warm))
        )  # when needed, and once
        if known is None:
            tell(f"{len(files)} files to look into")
            few = len(files) <= FILES and sum(file.size for file in files) <= FEW
            if not few:
                start()
            known = _plan(files, generator, options, few=few)
            manifests.save(out, known)
        else:
            manifests.demand_same(out, known, generator, options)
            manifests.demand_same_files(out, known, files, functools.partial(_look, options=options))
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
    state.records.sort(key=lambda one: str(one["name"]))
    _finish(out, known, state)
    return state


def _anywhere(model: str) -> str:
    """Name a model as a worker in another folder finds it: a folder by its whole path."""
    return model if model.startswith(HUB) or locate(model) != Path(model) else stores.absolute(model)


def _finish(out: str, manifest: Manifest, state: RunState) -> None:
    """Write what is known when all is done, and remove what killed workers left."""
    manifests.save(out, manifest, [{**one, "counts": _few(one["counts"])} for one in state.records])
    report = state.counts.to_json() | {"slowest": [_slow(one) for one in slowest(state.records)]}
    stores.write(f"{out}/report.json", json.dumps(report, ensure_ascii=False, indent=1).encode("utf-8"))
    stores.clear(f"{out}/{shards.TRIES}")
    for folder in (shards.DATA, shards.ERRORS, shards.DONE):
        stores.tidy(f"{out}/{folder}")


def _few(counts: dict[str, Any]) -> dict[str, int]:
    return {name: counts[name] for name in ("documents", "sentences", "words", "errors")}


def _slow(record: dict[str, Any]) -> dict[str, Any]:
    return {"shard": record["name"], "words": record["counts"]["words"], "seconds": record["seconds"]}


def _note_files(out: str, manifest: Manifest, state: RunState) -> None:
    """Name the files that cannot be read at all."""
    bad = [{"id": None, "file": one.path, "place": 0, "reason": one.error} for one in manifest.files if one.error]
    state.counts.errors += len(bad)
    if bad:
        lines = [json.dumps(error, ensure_ascii=False) + "\n" for error in bad]
        stores.write(f"{out}/{shards.ERRORS}/files.jsonl", "".join(lines).encode("utf-8", "replace"))


def _demand_few(state: RunState, most: int | None, out: str) -> None:
    if most is not None and state.counts.errors > most:
        raise CorpusError(
            f"{state.counts.errors} documents or files were set aside, more than {most}; {out}/{shards.ERRORS} says "
            f"why; {state.done} of {state.parts} shards are done and stay"
        )


def _done(out: str, parts: Iterable[FilePart], options: Options, *, verify: bool) -> Iterator[dict[str, Any]]:
    """Read the records of the parts that are done and whose shards are there, of the right size or even hash."""
    data = stores.below(f"{out}/{shards.DATA}")
    records = stores.below(f"{out}/{shards.DONE}")
    for part in parts:
        if f"{part.name}.json" in records and f"{part.name}.{options.output}" in data:
            record = json.loads(stores.read(f"{out}/{shards.DONE}/{part.name}.json") or b"{}")
            shard = record.get("name", "")
            same = shard in data and record["bytes"] == data[shard]
            if same and (not verify or record["sha256"] == stores.sha256(f"{out}/{shards.DATA}/{shard}")):
                yield record


def _look(file: File, options: Options) -> File:
    return partition.inspect(file, options)[0]


def _plan(files: Sequence[File], generator: str, options: Options, *, few: bool) -> Manifest:
    """Look into all files, here if they are few, and find the ids that come twice."""
    doubles = partition.Doubles()
    found: dict[int, File] = {}
    for number, file, keys in _looked(files, options, here=few):
        found[number] = file
        doubles.add(keys, number)
    looked = tuple(found[number] for number in range(len(files)))
    return manifests.Manifest(generator, options.to_json(), looked, tuple(sorted(doubles.found())))


def _looked(files: Sequence[File], options: Options, *, here: bool) -> Iterator[tuple[int, File, Keys]]:
    """Look into files, here or on the cluster, whose workers are in folders of their own."""
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
    """Apply a function to tasks on the cluster, a block of them at once; what dead workers and nodes had is done again.

    Results come as they are done. Tasks rather than actors of Ray: a task is free to go to any node that is left or has
    come, and the model stays loaded in the worker's process between tasks.
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
    """Do tasks, as Ray Data hands them out."""
    for task in table.column("task").to_pylist():
        result = function(pickle.loads(task))  # noqa: S301 - written by the driver of this run
        yield pa.table({"result": [pickle.dumps(result)]})


def _ours(failure: BaseException) -> RopewalkError:
    """Find our own error in what Ray made of it, or say in a line what happened."""
    seen: BaseException | None = failure
    while seen is not None:
        if isinstance(seen, RopewalkError):
            return seen
        seen = getattr(seen, "cause", None) or seen.__cause__
    lines = [line for line in str(failure).splitlines() if line.strip()] or [type(failure).__name__]
    return CorpusError(f"Ray gave up: {lines[-1].strip()}; what is done stays: run the same command again to go on")


@contextlib.contextmanager
def _ray(address: str | None, workers: int | None, warm: Callable[[], None]) -> Iterator[None]:
    """Join a cluster, or start Ray on this machine and for this run: without dashboard and reports to its makers.

    Started here, its workers get `warm` to do at once, while Ray Data is loaded here and starts what it needs.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_agent_register_timeout_ms", "120000")  # or it gives up on a machine that is busy
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # it warns of graphics cards that nobody asked for
    if address is None:
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # on any system, it keeps to the loopback interface
        os.environ.setdefault("RAY_worker_niceness", "0")  # or its workers give way to every other program
        os.environ.setdefault("RAY_enable_autoscaler_v2", "1")  # the other one takes a second to end
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
            f"{address}: Ray cannot join the cluster: {stores.why(failure)}; expected the address of one that "
            "ray start --head began; if it asks for a token, as it does where it found one, set RAY_AUTH_MODE=token "
            "and have the same token here"
        ) from failure


def _warmed(warm: Callable[[], None]) -> None:
    """Do what a worker has to do once; what fails here will fail again where it is told."""
    with contextlib.suppress(Exception):
        warm()


def _quiet_data() -> None:
    """Load Ray Data, and let it say nothing."""
    import ray.data

    logging.getLogger("ray.data").setLevel(logging.ERROR)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    context.execution_options.preserve_order = False

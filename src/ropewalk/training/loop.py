"""The training loop. It knows batches, numbers and losses; what they mean is the business of others.

One process or many, the same batches are learnt in the same order: each process takes its share of a batch, and
the loss is divided by the words of all shares. An epoch begins with a seed made of the run's seed and its own
number, so that going on from a checkpoint is the same as never having stopped.
"""

from __future__ import annotations

import copy
import hashlib
import json
import time
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from accelerate.utils import DistributedType, broadcast_object_list
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_state_dict, set_state_dict
from torch.distributed.fsdp import fully_shard

from ropewalk import files
from ropewalk.errors import TrainingError
from ropewalk.models.batching import shuffled
from ropewalk.models.scorer import arc_places
from ropewalk.models.storage import read_content, read_json, write_json
from ropewalk.training import trained_files
from ropewalk.training.classifiers import DISTANCES
from ropewalk.training.config import TrainingOptions
from ropewalk.training.network import Targets
from ropewalk.training.tracking import Tracker

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from torch import Tensor

    from ropewalk.models.inputs import Inputs
    from ropewalk.training.config import Config
    from ropewalk.training.examples import Examples
    from ropewalk.training.network import Network
    from ropewalk.training.teaching import Lessons

CHECKPOINT, STATE = "checkpoint", "state.json"  # a folder within the model's, and what says which file counts there
REPORTED = 10  # steps between two reports,
SILENT = 10.0  # and seconds, where steps are slow; several processes cannot go by their clocks, which differ
FULL = StateDictOptions(full_state_dict=True, cpu_offload=True)
ScoresByName = dict[str, float]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: epochs count from 1, `done` is the share of all words of the run."""

    epoch: int
    epochs: int
    step: int
    done: float
    loss: float  # a word, over the last steps
    words_per_second: float
    metrics: ScoresByName = field(default_factory=dict)  # of the last epoch that ended
    ended: bool = False  # whether that is this one


@dataclass(slots=True)
class TrainingState:
    """Where a run stands between two epochs."""

    epoch: int = 0
    step: int = 0
    best: float = -1.0
    best_epoch: int = 0
    best_weights: str = ""  # the SHA-256 of their file
    history: list[dict[str, Any]] = field(default_factory=list)

    def finished(self, options: TrainingOptions) -> bool:
        """Tell whether there is nothing left to do."""
        tired = options.patience and self.epoch - self.best_epoch >= options.patience
        return bool(self.epoch >= options.epochs or tired)


class Clock:
    """Measures a run that may take so many minutes, or any number if 0; `seconds` went by before it went on."""

    def __init__(self, minutes: float, seconds: float = 0.0) -> None:
        self._limit = 60 * minutes
        self._begun = time.monotonic() - seconds

    @property
    def seconds(self) -> float:
        """How long the run has taken."""
        return time.monotonic() - self._begun

    def done(self, share: float) -> float:
        """Give the share of a run that is done: of its words, or of the time it may take, whichever is more."""
        return max(share, min(self.seconds / self._limit, 1.0)) if self._limit else share

    @property
    def is_up(self) -> bool:
        """Whether the time is over."""
        return self.done(0.0) >= 1.0


def rate(done: float, warmup: float, schedule: str) -> float:
    """Give the learning rate, as a share of the highest, when a share of all words is done."""
    if done < warmup:
        return done / warmup
    return 1.0 if schedule == "constant" else max((1.0 - done) / max(1.0 - warmup, 1e-9), 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """What is to be trained on what, how it is scored, where it is kept, and who hears of it."""

    config: Config
    network: Network
    inputs: Sequence[Inputs]
    examples: Examples
    evaluate: Callable[[], ScoresByName]
    home: Path
    report: Callable[[Progress], None] = lambda _: None
    lessons: Lessons | None = None  # what a teacher says of the same sentences


def fit(job: Job, *, resume: bool = False) -> TrainingState:
    """Train a network, keeping the weights of the best epoch in the model's folder and a checkpoint of the last."""
    return _Run(job).run(resume=resume)


def groups(network: Network, options: TrainingOptions) -> list[dict[str, Any]]:
    """Sort weights by rate and decay: encoder or heads, matrices or biases and norms."""
    out: list[dict[str, Any]] = []
    for encoder in (True, False):
        for decays in (True, False):
            chosen = [
                weight
                for name, weight in network.named_parameters()
                if weight.requires_grad and name.startswith("encoder.") == encoder and (weight.ndim > 1) == decays
            ]
            if chosen:
                highest = options.encoder_rate if encoder else options.head_rate
                decay = options.weight_decay if decays else 0.0
                out.append({"params": chosen, "lr": highest, "highest": highest, "weight_decay": decay})
    return out


class _Run:
    """One training run in one of its processes."""

    def __init__(self, job: Job) -> None:
        options = job.config.training
        self.job = job
        self.options = options
        self.sizes = np.array([one.size for one in job.inputs], dtype=np.int64)
        self.lengths = np.diff(job.examples.offsets)
        self.distances = np.array(job.network.distances, dtype=np.int64)
        if AcceleratorState._shared_state.get("_mixed_precision", options.precision) != options.precision:  # noqa: SLF001 - no other way to ask
            AcceleratorState._reset_state()  # noqa: SLF001 - or a second run of this process would be refused
        self.accelerator = Accelerator(
            cpu=options.device == "cpu",
            mixed_precision=options.precision,
        )
        if self.accelerator.num_processes > 1:
            if options.minutes:
                raise TrainingError(
                    "training.minutes is for one process: the clocks of several differ; set training.epochs instead"
                )
            self._freeze_unused(job.network)
        kind = self.accelerator.distributed_type
        by_hand = options.sharded and kind == DistributedType.MULTI_CPU  # accelerate shards on GPUs only
        self.sharded = by_hand or kind == DistributedType.FSDP
        self.plain = network = job.network
        if self.sharded:
            network = copy.deepcopy(network)
        else:
            network.to(self.accelerator.device)
        if by_hand:
            fully_shard(network)
        first, second = options.betas
        optimizer = torch.optim.AdamW(groups(network, options), betas=(first, second))
        self.network: Any = network
        if by_hand:
            self.optimizer = self.accelerator.prepare(optimizer)
        else:
            self.network, self.optimizer = self.accelerator.prepare(network, optimizer)
        self.state = TrainingState()
        self.clock = Clock(options.minutes)
        self.tracker = Tracker(options if self.accelerator.is_main_process else TrainingOptions(), job.home)

    def _freeze_unused(self, network: Network) -> None:
        """Freeze weights that no loss reaches: processes that wait for each other's gradients would wait for ever."""
        network.cpu()(network.encoder.collate(self.job.inputs[:1]), self._targets([0], torch.device("cpu"))).backward()
        for weight in network.parameters():
            weight.requires_grad_(weight.requires_grad and weight.grad is not None)
            weight.grad = None

    def run(self, *, resume: bool) -> TrainingState:
        """Train until the last epoch, or until patience or time ends."""
        if resume:
            self._restore()
        earlier = self.state.history[-1]["seconds"] if self.state.history else 0.0
        self.clock = Clock(self.options.minutes, earlier)
        while not self.state.finished(self.options) and not (self.state.history and self.clock.is_up):
            epoch = self.state.epoch
            loss, words_per_second = self._epoch(epoch)
            model, optimizer = self._weights()
            metrics = self._evaluated(model)
            state = self.state
            state.epoch += 1
            better = metrics[self.options.metric] > state.best
            if better:
                state.best, state.best_epoch = metrics[self.options.metric], state.epoch
            state.history.append(
                {
                    "epoch": state.epoch,
                    "step": state.step,
                    "loss": loss,
                    "words_per_second": round(words_per_second, 1),
                    "seconds": round(self.clock.seconds, 1),
                    "best": better,
                    **metrics,
                    **self.tracker.energy(),
                }
            )
            self.tracker.epoch(state.history[-1])
            if self.accelerator.is_main_process:
                self._save(model, optimizer)
            self.accelerator.wait_for_everyone()
            self.job.report(
                Progress(
                    state.epoch,
                    self.options.epochs,
                    state.step,
                    self.clock.done(state.epoch / self.options.epochs),
                    loss,
                    words_per_second,
                    metrics,
                    ended=True,
                )
            )
        self.tracker.close()
        return self.state

    def _epoch(self, epoch: int) -> tuple[float, float]:
        """Learn every sentence once, as far as time allows; give the loss a word and the speed."""
        options = self.options
        rank, many = self.accelerator.process_index, self.accelerator.num_processes
        torch.manual_seed(int(np.random.SeedSequence([self.job.config.seed, epoch, rank]).generate_state(1)[0]))
        self.network.train()
        batches = shuffled(self.sizes, options.batch, self.job.config.seed, epoch)
        total = int(self.lengths.sum())
        seen = 0
        begun = reported = time.monotonic()
        whole, recent, recent_words = 0.0, torch.zeros((), device=self.accelerator.device), 0
        for start in range(0, len(batches), options.accumulate):
            part = batches[start : start + options.accumulate]
            words = int(sum(self.lengths[batch].sum() for batch in part))
            done = self.clock.done((epoch + (seen + words / 2) / total) / options.epochs)
            for group in self.optimizer.param_groups:
                group["lr"] = group["highest"] * rate(done, options.warmup, options.schedule)
            recent += self._step(part, words, rank, many)
            seen += words
            recent_words += words
            self.state.step += 1
            last_step = start + options.accumulate >= len(batches) or self.clock.is_up
            full = self.state.step % REPORTED == 0 or last_step
            if full or (many == 1 and time.monotonic() - reported >= SILENT):
                reported = time.monotonic()
                summed = self._summed(recent)
                if not np.isfinite(summed):
                    raise TrainingError(
                        f"epoch {epoch + 1}, step {self.state.step}: the loss is {summed}; lower the learning rates "
                        "training.encoder_rate and training.head_rate, or training.clip"
                    )
                speed = seen / max(time.monotonic() - begun, 1e-9)
                last = (
                    {k: v for k, v in self.state.history[-1].items() if isinstance(v, float)}
                    if self.state.history
                    else {}
                )
                self.job.report(
                    Progress(
                        epoch + 1,
                        options.epochs,
                        self.state.step,
                        self.clock.done((epoch + seen / total) / options.epochs),
                        summed / recent_words,
                        speed,
                        last,
                    )
                )
            if full:
                whole += summed
                recent, recent_words = torch.zeros_like(recent), 0
            if last_step:
                break
        return whole / seen, seen / max(time.monotonic() - begun, 1e-9)

    def _step(self, batches: Sequence[Sequence[int]], words: int, rank: int, many: int) -> Tensor:
        """Learn some batches as one; give the sum of this process's losses."""
        summed = torch.zeros((), device=self.accelerator.device)
        for number, batch in enumerate(batches):
            mine = batch[rank::many]
            weight = 1.0 if mine else 0.0  # a process without a share must take part all the same
            chosen = mine or batch[:1]
            last = number + 1 == len(batches)
            with nullcontext() if last else self.accelerator.no_sync(self.network):
                collated = self.plain.encoder.collate([self.job.inputs[s] for s in chosen])
                device = self.accelerator.device
                loss = self.network(collated.to(device), self._targets(chosen, device)) * weight
                self.accelerator.backward(loss * (many / words))
            summed += loss.detach()
        if self.options.clip:
            self.accelerator.clip_grad_norm_(self.network.parameters(), self.options.clip)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return summed

    def _targets(self, chosen: Sequence[int], device: torch.device) -> Targets:
        examples = self.job.examples
        places = np.concatenate([np.arange(examples.offsets[s], examples.offsets[s + 1]) for s in chosen])

        def tensor(array: Any) -> Tensor:  # noqa: ANN401 - an array of numbers
            return torch.from_numpy(array[places])

        heads = examples.heads[places]
        lengths = self.lengths[list(chosen)].tolist()
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        above, classes = arc_places(np.arange(len(heads)), heads, offsets, self.distances)
        graphs = examples.graphs
        return Targets(
            tuple(tensor(column) for column in examples.columns),
            torch.from_numpy(heads),
            torch.from_numpy(above),
            torch.from_numpy(classes),
            tensor(examples.relations),
            tuple(tensor(tag) for tag in examples.tags),
            None if self.job.lessons is None else self.job.lessons.batch(places, lengths),
            None if graphs is None else graphs.batch(places, lengths, np.array(DISTANCES)),
        ).to(device)

    def _summed(self, loss: Tensor) -> float:
        return float(self.accelerator.reduce(loss.clone(), "sum").item())

    def _weights(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Bring all weights and the optimizer's state together on the first process."""
        found: tuple[Any, Any] = get_state_dict(self.network, self.optimizer.optimizer, options=FULL)
        return found

    def _evaluated(self, weights: dict[str, Tensor]) -> ScoresByName:
        found: list[ScoresByName] = [{}]
        if self.accelerator.is_main_process:
            if self.sharded:
                self.plain.load_state_dict(weights)
            found = [self.job.evaluate()]
        return dict(broadcast_object_list(found)[0]) if self.accelerator.num_processes > 1 else found[0]

    def _save(self, model: dict[str, Tensor], optimizer: dict[str, Any]) -> None:
        """Write the checkpoint: its tensors under a new name, then what says which name counts, and its hashes."""
        place = files.make_folder(self.job.home / CHECKPOINT)
        state = self.state
        name = f"epoch-{state.epoch}.safetensors"
        tensors = {f"model/{key}": value for key, value in model.items()}
        for weight, values in optimizer["state"].items():
            tensors |= {f"optimizer/{weight}/{key}": torch.as_tensor(value) for key, value in values.items()}
        digest = trained_files.write_tensors(place / name, tensors)
        weights = trained_files.packed(model) if state.best_epoch == state.epoch else None
        if weights is not None:
            state.best_weights = _digest(weights)
        table = {"tensors": name, "sha256": digest, **asdict(state)}
        write_json(place / STATE, {**table, "hash": _hash(table)})
        self._settle(name, weights)

    def _settle(self, name: str, weights: bytes | None) -> None:
        """Write what follows from the checkpoint of this name, and remove earlier ones."""
        if weights is not None:
            trained_files.write_content(self.job.home / trained_files.WEIGHTS, weights)
        log = "".join(json.dumps(entry) + "\n" for entry in self.state.history)
        trained_files.write_content(self.job.home / "log.jsonl", log.encode("utf-8"))
        for old in (self.job.home / CHECKPOINT).glob("epoch-*.safetensors"):
            if old.name != name:
                files.remove(old)

    def _restore(self) -> None:
        """Go on from the last checkpoint, if there is one."""
        place = self.job.home / CHECKPOINT
        if not (place / STATE).is_file():
            return
        table = read_json(place / STATE)
        if not isinstance(table, dict) or table.pop("hash", None) != _hash(table):
            raise _damaged(place / STATE)
        try:
            file, digest = place / table.pop("tensors"), table.pop("sha256")
            self.state = TrainingState(**table)
        except (KeyError, TypeError) as failure:  # another version of this program wrote it
            raise _damaged(place / STATE) from failure
        raw = read_content(file)
        if _digest(raw) != digest:
            raise _damaged(file)
        tensors = trained_files.unpacked(raw, file)
        if self.accelerator.is_main_process:
            self._settle(file.name, self._lost_weights(tensors))
        _, optimizer = self._weights()
        model: dict[str, Any] = _model_of(tensors)
        states: dict[str, Any] = {}
        for key, value in tensors.items():
            if key.startswith("optimizer/"):
                weight, name = key.removeprefix("optimizer/").rsplit("/", 1)
                states.setdefault(weight, {})[name] = value
        set_state_dict(
            self.network,
            self.optimizer.optimizer,
            model_state_dict=model,
            optim_state_dict={"state": states, "param_groups": optimizer["param_groups"]},
            options=StateDictOptions(full_state_dict=True),
        )

    def _lost_weights(self, tensors: Mapping[str, Tensor]) -> bytes | None:
        """Return the weights of the best epoch, that of the checkpoint, if they are lost: they are written after it."""
        file = self.job.home / trained_files.WEIGHTS
        if file.is_file() and _digest(read_content(file)) == self.state.best_weights:
            return None
        if self.state.best_epoch != self.state.epoch:
            raise _damaged(file)
        return trained_files.packed(_model_of(tensors))


def _digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def _hash(table: Mapping[str, Any]) -> str:
    return _digest(json.dumps(table, sort_keys=True).encode("utf-8"))


def _damaged(file: Path) -> TrainingError:
    return TrainingError(
        f"{file}: is damaged or missing: it is not what training wrote; copy it from where it is whole, or train again "
        "into another folder"
    )


def _model_of(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {key.removeprefix("model/"): value for key, value in tensors.items() if key.startswith("model/")}

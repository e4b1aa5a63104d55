"""The training loop: it batches examples, minimizes the loss, and writes checkpoints.

With any number of processes, the same batches are learnt in the same order: each process computes its part of a batch,
and the loss is divided by the words of all parts. The seed of an epoch consists of the run's seed and the epoch's
number, so that resuming from a checkpoint gives the same result as a run without interruption.
"""

from __future__ import annotations

import copy
import hashlib
import json
import os
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
from ropewalk.core.ragged import Offsets
from ropewalk.errors import TrainingError
from ropewalk.models.scorer import distance_classes
from ropewalk.models.sentence_batches import shuffled
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

CHECKPOINT, STATE = (
    "checkpoint",
    "state.json",
)  # a folder within the model's, and the file that names the current tensors
REPORTED = 10  # steps between two reports
AVERAGE = "average/"  # prefix of the names of averaged weights in a checkpoint
AVERAGED = 10  # after n steps, the decay of the average is at most n / (n + AVERAGED)
SILENT = 10.0  # seconds after which one process reports earlier; the clocks of several processes differ
PRODUCTS = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "6000")  # oneDNN compiles products in bf16 for every size
FULL = StateDictOptions(full_state_dict=True, cpu_offload=True)
ScoresByName = dict[str, float]


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress report of a training run: `epoch` counts from 1, `done` is the finished fraction of the run.

    `doing` names a step after the last epoch, such as calibration; it is empty before.
    """

    epoch: int
    epochs: int
    step: int
    done: float
    loss: float  # per word, over the last steps
    words_per_second: float
    metrics: ScoresByName = field(default_factory=dict)  # of the last finished epoch
    ended: bool = False  # whether this epoch is finished
    doing: str = ""


@dataclass(slots=True)
class TrainingState:
    """State of a run after an epoch: its counters, the best dev score and its epoch, and the history of all epochs."""

    epoch: int = 0
    step: int = 0
    best: float = -1.0
    best_epoch: int = 0
    best_weights: str = ""  # the SHA-256 of their file
    history: list[dict[str, Any]] = field(default_factory=list)

    def finished(self, options: TrainingOptions) -> bool:
        """Return whether the last epoch is done, or the dev score has not improved for `patience` epochs."""
        tired = options.patience and self.epoch - self.best_epoch >= options.patience
        return bool(self.epoch >= options.epochs or tired)


class Clock:
    """Clock of a run with a time limit of `minutes`, 0 for none; a resumed run had already taken `seconds`."""

    def __init__(self, minutes: float, seconds: float = 0.0) -> None:
        self._limit = 60 * minutes
        self._begun = time.monotonic() - seconds

    @property
    def seconds(self) -> float:
        """The seconds that the run has taken."""
        return time.monotonic() - self._begun

    def done(self, fraction: float) -> float:
        """Return the finished fraction of the run: `fraction`, or that of the time limit if it is larger."""
        return max(fraction, min(self.seconds / self._limit, 1.0)) if self._limit else fraction

    @property
    def is_up(self) -> bool:
        """Whether the time limit is reached; always false without a limit."""
        return self.done(0.0) >= 1.0


def rate(done: float, warmup: float, schedule: str) -> float:
    """Return the learning rate, as a fraction of the highest, when the fraction `done` of the run is finished.

    It rises linearly until the fraction `warmup`. Then it stays constant or falls linearly to 0, as `schedule` names.
    """
    if done < warmup:
        return done / warmup
    return 1.0 if schedule == "constant" else max((1.0 - done) / max(1.0 - warmup, 1e-9), 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """A network with its examples, the function that scores it, its folder, and a callback for progress."""

    config: Config
    network: Network
    inputs: Sequence[Inputs]
    examples: Examples
    evaluate: Callable[[], ScoresByName]
    home: Path
    report: Callable[[Progress], None] = lambda _: None
    lessons: Lessons | None = None  # a teacher's probabilities for the same sentences


def fit(job: Job, *, resume: bool = False) -> TrainingState:
    """Train the network of a job and return the final state; with `resume`, continue from the last checkpoint.

    The model's folder then contains the weights of the best epoch, and a checkpoint of the last epoch.
    """
    return _Run(job).run(resume=resume)


def groups(network: Network, options: TrainingOptions) -> list[dict[str, Any]]:
    """Return the network's weights in groups for AdamW, each with its learning rate and weight decay.

    Encoder and classifiers have different rates. Matrices have weight decay; biases and norms have none.
    """
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
    """One training run in one of its processes; several processes share each batch."""

    def __init__(self, job: Job) -> None:
        options = job.config.training
        self.job = job
        self.options = options
        self.sizes = np.array([sentence.size for sentence in job.inputs], dtype=np.int64)
        self.lengths = np.diff(job.examples.offsets)
        self.distances = np.array(job.network.distances, dtype=np.int64)
        if AcceleratorState._shared_state.get("_mixed_precision", options.precision) != options.precision:  # noqa: SLF001 - no public way
            AcceleratorState._reset_state()  # noqa: SLF001 - or a second run in this process would be refused
        os.environ.setdefault(*PRODUCTS)
        self.accelerator = Accelerator(cpu=options.device == "cpu", mixed_precision=options.precision)
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
        optimizer = torch.optim.AdamW(groups(network, options), betas=(first, second), fused=not self.sharded)
        self.network: Any = network
        if by_hand:
            self.optimizer = self.accelerator.prepare(optimizer)
        else:
            self.network, self.optimizer = self.accelerator.prepare(network, optimizer)
        self.average = self._first_average()
        self.state = TrainingState()
        self.clock = Clock(options.minutes)
        self.tracker = Tracker(options if self.accelerator.is_main_process else TrainingOptions(), job.home)

    def _freeze_unused(self, network: Network) -> None:
        """Freeze the weights that no loss depends on; otherwise several processes wait for their gradients forever."""
        network.cpu()(network.encoder.collate(self.job.inputs[:1]), self._targets([0], torch.device("cpu"))).backward()
        for weight in network.parameters():
            weight.requires_grad_(weight.requires_grad and weight.grad is not None)
            weight.grad = None

    def _first_average(self) -> dict[str, Tensor]:
        """Return copies of all trained weights if an average of them is stored, otherwise nothing."""
        if not self.options.average:
            return {}
        if self.sharded:
            raise TrainingError("training.average is not for divided weights; leave it or training.sharded out")
        trained = self.plain.named_parameters()
        return {name: weight.detach().clone() for name, weight in trained if weight.requires_grad}

    def run(self, *, resume: bool) -> TrainingState:
        """Train until the last epoch, or until patience or time runs out; return the final state."""
        if resume:
            self._restore()
        earlier = self.state.history[-1]["seconds"] if self.state.history else 0.0
        self.clock = Clock(self.options.minutes, earlier)
        while not self.state.finished(self.options) and not (self.state.history and self.clock.is_up):
            epoch = self.state.epoch
            loss, words_per_second = self._epoch(epoch)
            model, optimizer = self._weights()
            averaged = self._averaged(model)
            metrics = self._evaluated(averaged)
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
                self._save(model, optimizer, averaged)
            self.accelerator.wait_for_everyone()
            self._report(state.epoch, state.epoch, loss, words_per_second, metrics, ended=True)
        self.tracker.close()
        return self.state

    def _report(  # noqa: PLR0913 - the fields of `Progress`
        self, epoch: int, epochs_done: float, loss: float, speed: float, metrics: ScoresByName, *, ended: bool = False
    ) -> None:
        done = self.clock.done(epochs_done / self.options.epochs)
        self.job.report(Progress(epoch, self.options.epochs, self.state.step, done, loss, speed, metrics, ended))

    def _epoch(self, epoch: int) -> tuple[float, float]:
        """Train on every sentence once, or until time runs out; return the loss per word and the words per second."""
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
                summed = float(self.accelerator.reduce(recent.clone(), "sum").item())
                if not np.isfinite(summed):
                    raise TrainingError(
                        f"epoch {epoch + 1}, step {self.state.step}: the loss is {summed}; lower the learning rates "
                        "training.encoder_rate and training.head_rate, or training.clip"
                    )
                speed = seen / max(time.monotonic() - begun, 1e-9)
                last = {k: v for entry in self.state.history[-1:] for k, v in entry.items() if isinstance(v, float)}
                self._report(epoch + 1, epoch + seen / total, summed / recent_words, speed, last)
            if full:
                whole += summed
                recent, recent_words = torch.zeros_like(recent), 0
            if last_step:
                break
        return whole / seen, seen / max(time.monotonic() - begun, 1e-9)

    def _step(self, batches: Sequence[Sequence[int]], words: int, rank: int, many: int) -> Tensor:
        """Update the weights once with the gradients of all `batches`; return the sum of this process's losses.

        `words` is the number of words in all batches. `rank` is the index of this process, `many` the number of
        processes.
        """
        summed = torch.zeros((), device=self.accelerator.device)
        for number, batch in enumerate(batches):
            mine = batch[rank::many]
            weight = 1.0 if mine else 0.0  # a process without sentences must compute as well
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
        self._average()
        return summed

    @torch.no_grad()
    def _average(self) -> None:
        """Move the average of the weights towards the current ones."""
        if self.average:
            decay = min(self.options.average, self.state.step / (self.state.step + AVERAGED))
            current = dict(self.plain.named_parameters())
            torch._foreach_lerp_(list(self.average.values()), [current[name] for name in self.average], 1.0 - decay)

    def _averaged(self, model: dict[str, Tensor]) -> dict[str, Tensor]:
        """Return the weights that are scored and stored: `model`, with its trained weights averaged over steps."""
        return model | {name: weight.detach().cpu() for name, weight in self.average.items()}

    def _targets(self, chosen: Sequence[int], device: torch.device) -> Targets:
        examples = self.job.examples
        words = np.concatenate([np.arange(examples.offsets[s], examples.offsets[s + 1]) for s in chosen])

        def tensor(array: Any) -> Tensor:  # noqa: ANN401 - an array of numbers
            return torch.from_numpy(array[words])

        heads = examples.heads[words]
        lengths = self.lengths[list(chosen)].tolist()
        rows = np.arange(len(heads))
        above = Offsets.of_lengths(lengths).head_rows(rows, heads)
        classes = distance_classes(rows, above, self.distances)
        graphs = examples.graphs
        return Targets(
            tuple(tensor(column) for column in examples.columns),
            torch.from_numpy(heads),
            torch.from_numpy(above),
            torch.from_numpy(classes),
            tensor(examples.relations),
            tuple(tensor(tag) for tag in examples.tags),
            None if self.job.lessons is None else self.job.lessons.batch(words, lengths),
            None if graphs is None else graphs.batch(words, lengths, np.array(DISTANCES)),
        ).to(device)

    def _weights(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Return all weights and the optimizer's state, gathered on the first process."""
        states: tuple[Any, Any] = get_state_dict(self.network, self.optimizer.optimizer, options=FULL)
        return states

    def _evaluated(self, weights: dict[str, Tensor]) -> ScoresByName:
        """Return the dev scores of `weights`; the network keeps those with which it is trained."""
        scores: list[ScoresByName] = [{}]
        if self.accelerator.is_main_process:
            trained = {name: self.plain.state_dict()[name].clone() for name in self.average}
            if self.sharded or self.average:
                self.plain.load_state_dict(weights)
            scores = [self.job.evaluate()]
            self.plain.load_state_dict(trained, strict=False)
        return dict(broadcast_object_list(scores)[0]) if self.accelerator.num_processes > 1 else scores[0]

    def _save(self, model: dict[str, Tensor], optimizer: dict[str, Any], averaged: dict[str, Tensor]) -> None:
        """Write a checkpoint: first its tensors to a new file, then `state.json` with that file's name and SHA-256.

        Then write the best weights, which are `averaged` ones, and the log, and remove earlier checkpoints.
        """
        folder = files.make_folder(self.job.home / CHECKPOINT)
        state = self.state
        name = f"epoch-{state.epoch}.safetensors"
        tensors = {f"model/{key}": value for key, value in model.items()}
        tensors |= {f"{AVERAGE}{key}": averaged[key] for key in self.average}
        for weight, values in optimizer["state"].items():
            tensors |= {f"optimizer/{weight}/{key}": torch.as_tensor(value) for key, value in values.items()}
        digest = trained_files.write_tensors(folder / name, tensors)
        weights = trained_files.packed(averaged) if state.best_epoch == state.epoch else None
        if weights is not None:
            state.best_weights = _digest(weights)
        table = {"tensors": name, "sha256": digest, **asdict(state)}
        write_json(folder / STATE, {**table, "hash": _hash(table)})
        self._settle(name, weights)

    def _settle(self, name: str, weights: bytes | None) -> None:
        """Write the best `weights`, if given, and the log; remove all tensors of checkpoints except the file `name`."""
        if weights is not None:
            trained_files.write_content(self.job.home / trained_files.WEIGHTS, weights)
        log = "".join(json.dumps(entry) + "\n" for entry in self.state.history)
        trained_files.write_content(self.job.home / "log.jsonl", log.encode("utf-8"))
        for old in (self.job.home / CHECKPOINT).glob("epoch-*.safetensors"):
            if old.name != name:
                files.remove(old)

    def _restore(self) -> None:
        """Resume from the last checkpoint, if there is one; raise `TrainingError` if it is damaged."""
        folder = self.job.home / CHECKPOINT
        if not (folder / STATE).is_file():
            return
        table = read_json(folder / STATE)
        if not isinstance(table, dict) or table.pop("hash", None) != _hash(table):
            raise _damaged(folder / STATE)
        try:
            file, digest = folder / table.pop("tensors"), table.pop("sha256")
            self.state = TrainingState(**table)
        except (KeyError, TypeError) as failure:  # another version of this program wrote it
            raise _damaged(folder / STATE) from failure
        raw = read_content(file)
        if _digest(raw) != digest:
            raise _damaged(file)
        tensors = trained_files.unpacked(raw, file)
        if self.accelerator.is_main_process:
            self._settle(file.name, self._lost_weights(tensors))
        _, optimizer = self._weights()
        model: dict[str, Any] = _model_of(tensors)
        for key, average in self.average.items():
            average.copy_(tensors[f"{AVERAGE}{key}"])
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
        """Return the best epoch's weights as the bytes of a file if that file is missing or outdated, otherwise None.

        A run can end between writing a checkpoint and writing the best weights. If the last epoch is the best one, the
        checkpoint's `tensors` contain the weights; otherwise raise `TrainingError`.
        """
        file = self.job.home / trained_files.WEIGHTS
        if file.is_file() and _digest(read_content(file)) == self.state.best_weights:
            return None
        if self.state.best_epoch != self.state.epoch:
            raise _damaged(file)
        averages = {key.removeprefix(AVERAGE): value for key, value in tensors.items() if key.startswith(AVERAGE)}
        return trained_files.packed(_model_of(tensors) | averages)


def _digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def _hash(table: Mapping[str, Any]) -> str:
    return _digest(json.dumps(table, sort_keys=True).encode("utf-8"))


def _damaged(file: Path) -> TrainingError:
    return TrainingError(f"{file}: is damaged or missing; restore it from a copy, or train again into another folder")


def _model_of(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {key.removeprefix("model/"): value for key, value in tensors.items() if key.startswith("model/")}

"""Optional records of a training run from the extra `track`: TensorBoard, and energy and CO2 from codecarbon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ropewalk.errors import MissingExtraError

if TYPE_CHECKING:
    from pathlib import Path

    from ropewalk.training.config import TrainingOptions


class Tracker:
    """Tracker of a training run: `epoch` records figures, `energy` returns what was used since the last call."""

    def __init__(self, options: TrainingOptions, home: Path) -> None:
        self._board: Any = None
        self._meter: Any = None
        self._used = (0.0, 0.0)
        if options.tensorboard:
            try:
                from torch.utils.tensorboard import SummaryWriter
            except ImportError as failure:
                raise MissingExtraError("training.tensorboard", "tensorboard", "track") from failure
            self._board = SummaryWriter(str(home / "tensorboard"))
        if options.energy:
            try:
                from codecarbon import OfflineEmissionsTracker
            except ImportError as failure:
                raise MissingExtraError("training.energy", "codecarbon", "track") from failure
            self._meter = OfflineEmissionsTracker(
                country_iso_code=options.country, output_methods=[], log_level="error"
            )
            self._meter.start()

    def energy(self) -> dict[str, float]:
        """Return the kilowatt-hours and kilograms of CO2 since the last call; an empty table if not measured."""
        if self._meter is None:
            return {}
        carbon = float(self._meter.flush() or 0.0)
        used = float(self._meter._total_energy.kWh)  # noqa: SLF001 - no public way during a run
        before, self._used = self._used, (used, carbon)
        return {"energy_kwh": used - before[0], "co2_kg": carbon - before[1]}

    def epoch(self, entry: dict[str, Any]) -> None:
        """Write the numbers in `entry`, an epoch's loss, speed and scores, to TensorBoard, if it is used."""
        if self._board is not None:
            for name, value in entry.items():
                if isinstance(value, float):
                    self._board.add_scalar(name, value, entry["step"])
            self._board.flush()

    def close(self) -> None:
        """Close TensorBoard and the energy meter."""
        if self._board is not None:
            self._board.close()
        if self._meter is not None:
            self._meter.stop()

"""Optional company of a training run: TensorBoard, and energy and CO2 by codecarbon, both from the extra `track`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ropewalk.errors import MissingExtraError

if TYPE_CHECKING:
    from pathlib import Path

    from ropewalk.training.config import TrainingOptions


class Tracker:
    """Hears of each epoch; `energy` gives what was used since it was last asked."""

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
        """Give kilowatt-hours and kilograms of CO2 since the last call."""
        if self._meter is None:
            return {}
        carbon = float(self._meter.flush() or 0.0)
        used = float(self._meter._total_energy.kWh)  # noqa: SLF001 - there is no other way to ask during a run
        before, self._used = self._used, (used, carbon)
        return {"energy_kwh": used - before[0], "co2_kg": carbon - before[1]}

    def epoch(self, entry: dict[str, Any]) -> None:
        """Pass on what an epoch gave."""
        if self._board is not None:
            for name, value in entry.items():
                if isinstance(value, float):
                    self._board.add_scalar(name, value, entry["step"])
            self._board.flush()

    def close(self) -> None:
        """End what was begun."""
        if self._board is not None:
            self._board.close()
        if self._meter is not None:
            self._meter.stop()

"""Counts that Prometheus reads, shared by all worker processes."""

from __future__ import annotations

import mmap
from typing import final

import numpy as np

BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
ROUTES = ("process", "models", "parse", "stream", "convert", "draw", "labels", "steps", "encodings", "page", "other")
STATUSES = ("2xx", "3xx", "4xx", "5xx")
COUNTS = ("words", "sentences", "batches", "batched_words_most", "seconds", "in_flight", "received_bytes")


@final
class Metrics:
    """A row of numbers for each worker process, in memory that forked processes share; each writes only its own."""

    def __init__(self, workers: int = 1) -> None:
        self._names = [
            *(f"requests {route} {status}" for route in ROUTES for status in STATUSES),
            *(f"bucket {bound}" for bound in (*BUCKETS, "+Inf")),
            *COUNTS,
        ]
        self._place = {name: number for number, name in enumerate(self._names)}
        memory = mmap.mmap(-1, workers * len(self._names) * 8)
        self._rows = np.frombuffer(memory, dtype=np.float64).reshape(workers, len(self._names))
        self._row = self._rows[0]

    def own(self, worker: int) -> None:
        """Count for this worker from now on, from nothing in what it alone knows."""
        self._row = self._rows[worker]
        self._row[self._place["in_flight"]] = 0

    def answered(self, route: str, status: int, seconds: float) -> None:
        """Count an answer."""
        group = f"{min(max(status // 100, 2), 5)}xx"
        self._row[self._place[f"requests {route} {group}"]] += 1
        bound = next((bound for bound in BUCKETS if seconds <= bound), "+Inf")
        self._row[self._place[f"bucket {bound}"]] += 1
        self._row[self._place["seconds"]] += seconds

    def batch(self, words: int, sentences: int) -> None:
        """Count what was parsed together."""
        self._row[self._place["words"]] += words
        self._row[self._place["sentences"]] += sentences
        self._row[self._place["batches"]] += 1
        most = self._place["batched_words_most"]
        self._row[most] = max(self._row[most], words)

    def received(self, size: int) -> None:
        """Count the bytes of a request's body."""
        self._row[self._place["received_bytes"]] += size

    def in_flight(self, change: int) -> None:
        """Note that requests began to be answered, or ended."""
        self._row[self._place["in_flight"]] += change

    def text(self) -> str:
        """Write all counts as Prometheus reads them."""
        total = dict(zip(self._names, self._rows.sum(axis=0).tolist(), strict=True))
        most = self._rows[:, self._place["batched_words_most"]].max()
        lines = ["# HELP ropewalk_requests_total Requests answered.", "# TYPE ropewalk_requests_total counter"]
        for route in ROUTES:
            for status in STATUSES:
                count = total[f"requests {route} {status}"]
                lines.append(f'ropewalk_requests_total{{route="{route}",status="{status}"}} {count:.0f}')
        lines += ["# HELP ropewalk_request_seconds Time to answer.", "# TYPE ropewalk_request_seconds histogram"]
        reached = 0.0
        for bound in (*BUCKETS, "+Inf"):
            reached += total[f"bucket {bound}"]
            lines.append(f'ropewalk_request_seconds_bucket{{le="{bound}"}} {reached:.0f}')
        lines += [
            f"ropewalk_request_seconds_sum {total['seconds']:.6f}",
            f"ropewalk_request_seconds_count {reached:.0f}",
        ]
        for name, kind, help_text, value in (
            ("words_total", "counter", "Words parsed.", total["words"]),
            ("sentences_total", "counter", "Sentences parsed.", total["sentences"]),
            ("batches_total", "counter", "Calls of the parser.", total["batches"]),
            ("batch_words_max", "gauge", "The most words that were parsed together.", most),
            ("received_bytes_total", "counter", "Bytes of request bodies.", total["received_bytes"]),
            ("requests_in_flight", "gauge", "Requests that are being answered.", total["in_flight"]),
        ):
            lines += [
                f"# HELP ropewalk_{name} {help_text}",
                f"# TYPE ropewalk_{name} {kind}",
                f"ropewalk_{name} {value:.0f}",
            ]
        return "\n".join(lines) + "\n"

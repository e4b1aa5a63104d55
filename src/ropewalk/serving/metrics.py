"""Counts that Prometheus reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from collections.abc import Mapping

BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
OTHER = "other"
STATUSES = ("2xx", "3xx", "4xx", "5xx")
COUNTS = ("words", "sentences", "batches", "batched_words_most", "seconds", "in_flight", "received_bytes")


@final
class Metrics:
    """Counts of one server; `labels` maps paths to the names under which their requests are counted."""

    def __init__(self, labels: Mapping[str, str]) -> None:
        self._labels = labels
        self._routes = tuple(dict.fromkeys([*labels.values(), OTHER]))
        self._counts = dict.fromkeys(
            [
                *(f"requests {route} {status}" for route in self._routes for status in STATUSES),
                *(f"bucket {bound}" for bound in (*BUCKETS, "+Inf")),
                *COUNTS,
            ],
            0.0,
        )

    def answered(self, path: str, status: int, seconds: float) -> None:
        """Count an answer."""
        route = self._labels.get(path.rstrip("/") or "/", OTHER)
        group = f"{min(max(status // 100, 2), 5)}xx"
        self._counts[f"requests {route} {group}"] += 1
        bound = next((bound for bound in BUCKETS if seconds <= bound), "+Inf")
        self._counts[f"bucket {bound}"] += 1
        self._counts["seconds"] += seconds

    def batch(self, words: int, sentences: int) -> None:
        """Count what was parsed together."""
        self._counts["words"] += words
        self._counts["sentences"] += sentences
        self._counts["batches"] += 1
        self._counts["batched_words_most"] = max(self._counts["batched_words_most"], words)

    def received(self, size: int) -> None:
        """Count the bytes of a request's body."""
        self._counts["received_bytes"] += size

    def in_flight(self, change: int) -> None:
        """Note that requests began to be answered, or ended."""
        self._counts["in_flight"] += change

    def text(self) -> str:
        """Write all counts as Prometheus reads them."""
        total = self._counts
        lines = ["# HELP ropewalk_requests_total Requests answered.", "# TYPE ropewalk_requests_total counter"]
        for route in self._routes:
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
            ("batch_words_max", "gauge", "The most words that were parsed together.", total["batched_words_most"]),
            ("received_bytes_total", "counter", "Bytes of request bodies.", total["received_bytes"]),
            ("requests_in_flight", "gauge", "Requests that are being answered.", total["in_flight"]),
        ):
            lines += [
                f"# HELP ropewalk_{name} {help_text}",
                f"# TYPE ropewalk_{name} {kind}",
                f"ropewalk_{name} {value:.0f}",
            ]
        return "\n".join(lines) + "\n"

"""Counts of requests, words and batches, which Prometheus reads from `/metrics`."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from collections.abc import Mapping

BOUNDS = ("0.002", "0.005", "0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1.0", "2.0", "5.0", "10.0", "30.0", "+Inf")
STATUSES = ("2xx", "3xx", "4xx", "5xx")
OTHER = "other"
COUNTS = {
    "words_total": ("counter", "Words parsed."),
    "sentences_total": ("counter", "Sentences parsed."),
    "batches_total": ("counter", "Calls of the parser."),
    "batch_words_max": ("gauge", "The largest number of words parsed together."),
    "received_bytes_total": ("counter", "Bytes of request bodies."),
    "requests_in_flight": ("gauge", "Requests that are being answered."),
}


@final
class Metrics:
    """The metrics of a server; `labels` maps each path to the name under which its requests are counted."""

    def __init__(self, labels: Mapping[str, str]) -> None:
        self._labels = labels
        routes = dict.fromkeys([*labels.values(), OTHER])
        self._requests = {(route, status): 0 for route in routes for status in STATUSES}
        self._buckets = dict.fromkeys(BOUNDS, 0)
        self._seconds = 0.0
        self._counts = dict.fromkeys(COUNTS, 0)

    def answered(self, path: str, status: int, seconds: float) -> None:
        """Count a response: the path of its request, its HTTP status, and the `seconds` that it took."""
        route = self._labels.get(path.rstrip("/") or "/", OTHER)
        self._requests[route, f"{min(max(status // 100, 2), 5)}xx"] += 1
        self._buckets[next(bound for bound in BOUNDS if seconds <= float(bound))] += 1
        self._seconds += seconds

    def batch(self, words: int, sentences: int) -> None:
        """Count a call of a parser with this number of words and sentences."""
        self._counts["words_total"] += words
        self._counts["sentences_total"] += sentences
        self._counts["batches_total"] += 1
        self._counts["batch_words_max"] = max(self._counts["batch_words_max"], words)

    def received(self, size: int) -> None:
        """Add the `size` in bytes of a request body."""
        self._counts["received_bytes_total"] += size

    def in_flight(self, change: int) -> None:
        """Add `change`, 1 or -1, to the number of requests that are being answered."""
        self._counts["requests_in_flight"] += change

    def text(self) -> str:
        """Return all metrics in the format of Prometheus."""
        lines = _heading("requests_total", "counter", "Requests answered.")
        for (route, status), count in self._requests.items():
            lines.append(f'ropewalk_requests_total{{route="{route}",status="{status}"}} {count}')
        lines += _heading("request_seconds", "histogram", "Time to answer.")
        reached = 0
        for bound, count in self._buckets.items():
            reached += count
            lines.append(f'ropewalk_request_seconds_bucket{{le="{bound}"}} {reached}')
        lines.append(f"ropewalk_request_seconds_sum {self._seconds:.6f}")
        lines.append(f"ropewalk_request_seconds_count {reached}")
        for name, about in COUNTS.items():
            lines += [*_heading(name, *about), f"ropewalk_{name} {self._counts[name]}"]
        return "\n".join(lines) + "\n"


def _heading(name: str, kind: str, meaning: str) -> list[str]:
    return [f"# HELP ropewalk_{name} {meaning}", f"# TYPE ropewalk_{name} {kind}"]

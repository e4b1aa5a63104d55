"""The settings of a server."""

from __future__ import annotations

from dataclasses import dataclass

from ropewalk.errors import OptionError
from ropewalk.options import ParserOptions
from ropewalk.serving.hosts import Hosts

MOST_SECONDS = 86_400
BODIES_HELD = 64  # bodies of the largest size that may be in memory at once


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a server: its models, and limits that protect clients from each other.

    The first of `models` is the default model; `("all",)` is all installed models, of which at most `max_models` are in
    memory at the same time. A request may have up to `max_bytes` bytes, its sentences up to
    `max_words` words, and it may take up to `max_seconds`. Up to `max_requests` requests for each worker are answered
    at the same time. A batch has about `batch_words` words; it waits up to `batch_seconds` for more requests.

    Web pages of `allow_origins` may read answers; `*` is every origin. If `allow_hosts` is not empty, requests whose
    `Host` header names another host are refused, except for names of the loopback interface; `*` allows every host.
    With `log_text`, the log contains the content of requests.
    """

    models: tuple[str, ...] = ("en",)
    parsing: ParserOptions = ParserOptions()  # of all models
    max_models: int = 8
    max_bytes: int = 1_000_000
    max_words: int = 1000
    max_seconds: float = 30.0
    max_requests: int = 256
    batch_words: int = 2048
    batch_seconds: float = 0.002
    allow_origins: tuple[str, ...] = ()
    allow_hosts: tuple[str, ...] = ()
    log_text: bool = False

    def __post_init__(self) -> None:
        if not self.models:
            raise OptionError("there is no model to serve; name at least one")
        if len(set(self.models)) < len(self.models):
            raise OptionError(f"found models {', '.join(self.models)}; name each once")
        least = min(self.max_bytes, self.max_words, self.max_requests, self.batch_words, self.max_models)
        if least < 1 or not self.max_seconds:
            raise OptionError(f"found a limit of {min(least, self.max_seconds)}; expected positive limits")
        for name, seconds in (("max_seconds", self.max_seconds), ("batch_seconds", self.batch_seconds)):
            if not 0 <= seconds <= MOST_SECONDS:  # not a number is neither
                raise OptionError(f"{name} is {seconds}; expected 0 to {MOST_SECONDS:,} seconds")
        Hosts(self.allow_hosts)

    @property
    def held_bytes(self) -> int:
        """The largest total size, in bytes, of the request bodies that are being received at the same time."""
        return BODIES_HELD * self.max_bytes

"""What a server is told once, when it starts."""

from __future__ import annotations

from dataclasses import dataclass

from ropewalk.errors import OptionError
from ropewalk.options import ParserOptions
from ropewalk.serving.hosts import Hosts

MOST_SECONDS = 86_400
BODIES_HELD = 64  # bodies of the largest size that may be held at once, in parts or whole


@dataclass(frozen=True, slots=True)
class Settings:
    """Models, and limits that keep one client from harming another.

    The first of `models` is the default one. A batch ends at `batch_words` words, or after `batch_seconds` if more
    requests are on their way. `allow_origins` are the origins whose pages may read answers, `*` for all. If there are
    `allow_hosts`, requests for other hosts than these and the machine itself are refused, unless one is `*`.
    """

    models: tuple[str, ...] = ("en",)
    parsing: ParserOptions = ParserOptions()  # of all models
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
            raise OptionError("found no model; expected at least one to serve")
        if len(set(self.models)) < len(self.models):
            raise OptionError(f"found models {', '.join(self.models)}; expected each once")
        least = min(self.max_bytes, self.max_words, self.max_requests, self.batch_words)
        if least < 1 or not self.max_seconds:
            raise OptionError(f"found a limit of {min(least, self.max_seconds)}; expected positive limits")
        for name, seconds in (("max_seconds", self.max_seconds), ("batch_seconds", self.batch_seconds)):
            if not 0 <= seconds <= MOST_SECONDS:  # not a number is neither
                raise OptionError(f"{name} is {seconds}; expected 0 to {MOST_SECONDS:,} seconds")
        Hosts(self.allow_hosts)

    @property
    def held_bytes(self) -> int:
        """How many bytes of requests may be held at once, however many clients send them."""
        return BODIES_HELD * self.max_bytes

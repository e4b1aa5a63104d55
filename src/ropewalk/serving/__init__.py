"""HTTP server for parsing: UDPipe's REST protocol, Ropewalk's own API, and a web page that shows trees.

`application` builds the ASGI application, and `run` serves it, as the command `ropewalk serve` does.
"""

from typing import TYPE_CHECKING

from ropewalk.serving.application import application
from ropewalk.serving.settings import Settings

if TYPE_CHECKING:
    from ropewalk.serving.process import run

__all__ = ["Settings", "application", "run"]


def __getattr__(name: str) -> object:
    if name != "run":
        raise AttributeError(f"module 'ropewalk.serving' has no attribute {name!r}")
    from ropewalk.serving.process import run  # it needs uvicorn, and the application works with any ASGI server

    globals()[name] = run
    return run

"""HTTP server for parsing: UDPipe's REST protocol, Ropewalk's own API, and a web page that shows trees.

`application` builds the ASGI application, and `run` serves it, as the command `ropewalk serve` does.
"""

from ropewalk.serving.application import application
from ropewalk.serving.process import run
from ropewalk.serving.settings import Settings

__all__ = ["Settings", "application", "run"]

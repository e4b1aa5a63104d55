"""A parser behind HTTP: UDPipe's protocol, an API of our own, and a page to look at trees.

`application` makes the ASGI application, `run` serves it; `ropewalk serve` is a thin skin over both.
"""

from ropewalk.serving.application import application
from ropewalk.serving.process import run
from ropewalk.serving.settings import Settings

__all__ = ["Settings", "application", "run"]

"""A headless browser for tests, driven through the DevTools protocol; needs nothing but a chromium."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
)  # fmt: skip
# The browser reads commands from descriptor 3 and writes answers to 4.
START = (
    "import os, sys; a, b = map(int, sys.argv[1:3]); os.dup2(a, 3); os.dup2(b, 4); os.execv(sys.argv[3], sys.argv[3:])"
)
KEYS = {
    "Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38,
    "ArrowRight": 39, "ArrowDown": 40,
}  # fmt: skip
TEXTS = {"Enter": "\r", " ": " "}


class Browser:
    """One page of a headless browser, driven through the DevTools protocol."""

    def __init__(self, commands: int, answers: int) -> None:
        self.commands = commands
        self.answers = answers
        self.rest = b""
        self.count = 0
        self.events: list[dict[str, Any]] = []
        self.session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """Send a command and wait for its answer, keeping the events that come before it."""
        self.count += 1
        command: dict[str, object] = {"id": self.count, "method": method, "params": parameters}
        if self.session is not None:
            command["sessionId"] = self.session
        os.write(self.commands, json.dumps(command).encode() + b"\0")
        while True:
            message = self._message()
            if message.get("id") == self.count:
                assert "error" not in message, message
                return dict(message["result"])
            self.events.append(message)

    def open(self, place: Path | str) -> None:
        """Open a file or an address and wait until it is loaded."""
        self.events.clear()
        self.call("Page.navigate", url=place if isinstance(place, str) else place.as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._message())

    def run(self, script: str) -> Any:  # noqa: ANN401 - whatever the script gives
        """Evaluate a script on the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """Press and release a key."""
        text = {"text": TEXTS[key]} if key in TEXTS else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=KEYS[key], **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=KEYS[key])

    def type(self, text: str) -> None:
        """Type text where the focus is."""
        self.call("Input.insertText", text=text)

    def wait(self, script: str, seconds: float = 60.0) -> Any:  # noqa: ANN401 - whatever the script gives
        """Evaluate a script until it gives something true, and give that."""
        until = time.monotonic() + seconds
        while not (found := self.run(script)):
            assert time.monotonic() < until, f"{script} never became true"
            time.sleep(0.05)
        return found

    def picture(self) -> bytes:
        """Return a screenshot of the whole page."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        return base64.b64decode(self.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)["data"])

    def requests(self) -> list[str]:
        """List the addresses asked for since the page was opened."""
        return [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]

    def failures(self) -> list[object]:
        """List what went wrong in scripts."""
        return [event for event in self.events if event.get("method") == "Runtime.exceptionThrown"]

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self.rest:
            piece = os.read(self.answers, 65536)
            assert piece, "the browser has ended"
            self.rest += piece
        text, _, self.rest = self.rest.partition(b"\0")
        return dict(json.loads(text))


@contextmanager
def browsing(folder: Path) -> Iterator[Browser]:
    """Start a browser with a fresh profile, and end it."""
    theirs, commands = os.pipe()
    answers, ours = os.pipe()
    program = [sys.executable, "-c", START, str(theirs), str(ours), str(BROWSER), *FLAGS, f"--user-data-dir={folder}"]
    child = subprocess.Popen(
        program, pass_fds=(theirs, ours), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    os.close(theirs)
    os.close(ours)
    try:
        yield Browser(commands, answers)
    finally:
        os.close(commands)  # a browser whose pipe is closed ends by itself
        try:
            child.wait(20)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        os.close(answers)

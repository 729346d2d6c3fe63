"""A browser without a library: W3C WebDriver commands to chromedriver, as JSON over HTTP."""

from __future__ import annotations

import base64
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
DRIVERS = ("chromedriver", "chromium.chromedriver")
_OPTIONS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1200,1000")


def installed() -> tuple[str, str] | None:
    """The browser and its driver; None where one is missing."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = next(filter(None, map(shutil.which, DRIVERS)), None)
    return (browser, driver) if browser and driver else None


class Browser:
    """One session of a headless browser."""

    def __init__(self, address: str, session: str) -> None:
        self._address = f"{address}/session/{session}"

    def open(self, url: str) -> None:
        """Load a page."""
        _send("POST", f"{self._address}/url", {"url": url})

    def run(self, script: str, *arguments: object) -> Any:
        """What a script returns, in the page."""
        return _send("POST", f"{self._address}/execute/sync", {"script": script, "args": arguments})

    def click(self, selector: str) -> None:
        """Click an element as a user would: it fails where it is hidden or covered."""
        _send("POST", f"{self._element(selector)}/click", {})

    def type(self, selector: str, text: str) -> None:
        """Type into an element, after what is there."""
        _send("POST", f"{self._element(selector)}/value", {"text": text})

    def texts(self, selector: str) -> list[str]:
        """The visible texts of the visible elements."""
        script = (
            "return [...document.querySelectorAll(arguments[0])].filter(e => e.checkVisibility()).map(e => e.innerText)"
        )
        return list(self.run(script, selector))

    def log(self) -> list[str]:
        """What the page complained of since it was asked last: errors of scripts, refused requests."""
        return [entry["message"] for entry in _send("POST", f"{self._address}/se/log", {"type": "browser"})]

    def dark(self, on: bool) -> None:
        """Prefer dark colours, or light ones."""
        features = [{"name": "prefers-color-scheme", "value": "dark" if on else "light"}]
        self._devtools("Emulation.setEmulatedMedia", {"features": features})

    def width(self, pixels: int) -> None:
        """Show the page in a window of a width."""
        size = {"width": pixels, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self._devtools("Emulation.setDeviceMetricsOverride", size)

    def screenshot(self) -> bytes:
        """The window as PNG."""
        return base64.b64decode(_send("GET", f"{self._address}/screenshot"))

    def quit(self) -> None:
        """End the session."""
        _send("DELETE", self._address)

    def _element(self, selector: str) -> str:
        found = _send("POST", f"{self._address}/element", {"using": "css selector", "value": selector})
        return f"{self._address}/element/{next(iter(found.values()))}"

    def _devtools(self, command: str, parameters: dict[str, Any]) -> None:
        _send("POST", f"{self._address}/goog/cdp/execute", {"cmd": command, "params": parameters})


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """A session, ended with its processes."""
    found = installed()
    assert found is not None
    program, driver = found
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([driver, f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        address = f"http://127.0.0.1:{port}"
        _wait(address)
        options = {"binary": program, "args": [*_OPTIONS, f"--user-data-dir={profile}"]}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        session = _send("POST", f"{address}/session", {"capabilities": {"alwaysMatch": wanted}})
        page = Browser(address, session["sessionId"])
        try:
            yield page
        finally:
            page.quit()
    finally:
        process.terminate()
        process.wait(30)


def _wait(address: str) -> None:
    for _ in range(300):
        try:
            if _send("GET", f"{address}/status")["ready"]:
                return
        except OSError:
            pass
        time.sleep(0.1)
    raise TimeoutError("chromedriver does not answer")


def _send(method: str, url: str, body: dict[str, Any] | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)["value"]
    except urllib.error.HTTPError as error:
        raise AssertionError(json.load(error)["value"]["message"]) from error

"""Find the Java that Spark would start, and say what to do when there is none fit for it.

Standard library only, and no import of this project, so that it also runs before anything is installed.
"""

import contextlib
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

MINIMUM_MAJOR = 17
"""The oldest Java that Spark 4 runs on."""

_TIMEOUT_SECONDS = 60
# Anchored, because options echoed from JAVA_TOOL_OPTIONS may come before it and may hold anything.
_VERSION_LINE = re.compile(r'^\S+ version "((?:1\.)?(\d+)[^"]*)"', re.MULTILINE)
_NOISE = ("Picked up ", "NOTE: Picked up ")


@dataclass(frozen=True)
class JavaInfo:
    """A Java that Spark can use."""

    executable: Path
    version: str
    major: int


class JavaError(Exception):
    """There is no Java fit for Spark; `remedy` says what to do on this platform."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy


def require_java() -> JavaInfo:
    """Return the Java that Spark would start; raise JavaError when it would not do."""
    executable = _find()
    output = _version_output(executable)
    parsed = parse_version(output)
    if parsed is None:
        raise JavaError(f"`{executable} -version` does not tell its version{_first_line(output)}.", _remedy())
    version, major = parsed
    if major < MINIMUM_MAJOR:
        origin = "JAVA_HOME" if os.environ.get("JAVA_HOME") else "PATH"
        raise JavaError(
            f"Spark needs Java {MINIMUM_MAJOR} or later, and {origin} gives {executable}, Java {version}.",
            f"{_remedy()}\nThen let JAVA_HOME, or PATH with JAVA_HOME unset, name the newer one.",
        )
    return JavaInfo(executable, version, major)


def parse_version(output: str) -> tuple[str, int] | None:
    """Read the version and its major number from what `java -version` printed."""
    found = _VERSION_LINE.search(output)
    return (found[1], int(found[2])) if found else None


def install_hint(system: str, os_release: Mapping[str, str]) -> str:
    """Say how to install Java on a `sys.platform`, for Linux with the fields of its os-release."""
    if system == "darwin":
        return (
            "Install it:  brew install openjdk@17\n"
            'and then:    export JAVA_HOME="$(brew --prefix openjdk@17)/libexec/openjdk.jdk/Contents/Home"'
        )
    if system in ("win32", "cygwin"):
        return "Install it:  winget install EclipseAdoptium.Temurin.17.JDK\nand open a new terminal."
    family = {os_release.get("ID", ""), *os_release.get("ID_LIKE", "").split()}
    if family & {"debian", "ubuntu"}:
        return (
            "Install it:  sudo apt-get update && sudo apt-get install openjdk-17-jre-headless\n"
            "(where there is no 17: openjdk-21-jre-headless)"
        )
    if family & {"fedora", "rhel", "centos"}:
        return "Install it:  sudo dnf install java-21-openjdk-headless"
    return f"Install Java {MINIMUM_MAJOR} or later (OpenJDK will do) and put `java` on PATH or set JAVA_HOME."


def _find() -> Path:
    """Choose as Spark's launcher does: JAVA_HOME when it is not empty, else PATH."""
    home = os.environ.get("JAVA_HOME")
    if home:
        executable = Path(home) / "bin" / ("java.exe" if sys.platform == "win32" else "java")
        if executable.is_file() and os.access(executable, os.X_OK):
            return executable
        raise JavaError(
            f"JAVA_HOME is {home}, but there is no program {executable}.",
            "Set JAVA_HOME to the directory that holds bin/java, or unset it to use the `java` on PATH.\n"
            f"If Java {MINIMUM_MAJOR} or later is not installed yet:\n{_remedy()}",
        )
    on_path = shutil.which("java")
    if on_path is None:
        raise JavaError(
            f"Spark needs Java {MINIMUM_MAJOR} or later: no `java` is on PATH and JAVA_HOME is not set.",
            _remedy(),
        )
    return Path(on_path)


def _version_output(executable: Path) -> str:
    try:
        done = subprocess.run(
            [executable, "-version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=_TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise JavaError(f"`{executable} -version` did not end in {_TIMEOUT_SECONDS} s.", _remedy()) from error
    except OSError as error:
        raise JavaError(f"`{executable}` does not run: {error.strerror}.", _remedy()) from error
    if done.returncode != 0:
        reason = _first_line(done.stdout)
        raise JavaError(f"`{executable} -version` fails with status {done.returncode}{reason}.", _remedy())
    return done.stdout


def _first_line(output: str) -> str:
    lines = (line.strip() for line in output.splitlines())
    first = next((line for line in lines if line and not line.startswith(_NOISE)), "")
    return f": {first.rstrip('.')}" if first else ""


def _remedy() -> str:
    os_release: Mapping[str, str] = {}
    if sys.platform.startswith("linux"):
        with contextlib.suppress(OSError):
            os_release = platform.freedesktop_os_release()
    return install_hint(sys.platform, os_release)


def main() -> int:
    """Check silently; print the message and the remedy, and return 2, when Java will not do."""
    try:
        require_java()
    except JavaError as error:
        print(f"streambound: {error.message}\n{error.remedy}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

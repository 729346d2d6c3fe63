"""The JDK check, against fake `java` programs."""

import subprocess
import sys
from pathlib import Path

import pytest

from streambound.synopsis_exec import java

TEMURIN_17 = """\
openjdk version "17.0.15" 2025-04-15
OpenJDK Runtime Environment Temurin-17.0.15+6 (build 17.0.15+6)
OpenJDK 64-Bit Server VM Temurin-17.0.15+6 (build 17.0.15+6, mixed mode, sharing)
"""
JAVA_8 = """\
java version "1.8.0_391"
Java(TM) SE Runtime Environment (build 1.8.0_391-b13)
Java HotSpot(TM) 64-Bit Server VM (build 25.391-b13, mixed mode)
"""
NOISE = 'Picked up JAVA_TOOL_OPTIONS: -Dx.version "8" -Xmx1g\n'

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="the fake java programs are shell scripts")


def fake_java(home: Path, output: str, status: int = 0) -> Path:
    """Make home/bin/java, which prints `output` on stderr, as java does; return home/bin."""
    folder = home / "bin"
    folder.mkdir(parents=True)
    (folder / "version.txt").write_text(output)
    script = folder / "java"
    # Only shell built-ins, because PATH holds nothing else in these tests.
    script.write_text(
        "#!/bin/sh\n"
        '[ "$*" = -version ] || exit 99\n'
        f"while IFS= read -r line; do printf '%s\\n' \"$line\"; done <'{folder}/version.txt' >&2\n"
        f"exit {status}\n"
    )
    script.chmod(0o755)
    return folder


@pytest.fixture
def no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Set no JAVA_HOME and an empty directory as PATH; return a directory to make a Java in."""
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return tmp_path / "jdk"


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (TEMURIN_17, ("17.0.15", 17)),
        (JAVA_8, ("1.8.0_391", 8)),
        ('openjdk version "21-ea" 2023-09-19\n', ("21-ea", 21)),
        ('openjdk version "11.0.2" 2019-01-15 LTS\n', ("11.0.2", 11)),
        ('java version "25" 2025-09-16 LTS\n', ("25", 25)),
        ('openjdk version "17-internal" 2021-09-14\n', ("17-internal", 17)),
        ('openjdk version "22.0.1+8"\nEclipse OpenJ9 VM (build openj9-0.45.0)\n', ("22.0.1+8", 22)),
        (NOISE + TEMURIN_17, ("17.0.15", 17)),
        (NOISE + "Picked up _JAVA_OPTIONS: -Xss4m\r\n" + JAVA_8.replace("\n", "\r\n"), ("1.8.0_391", 8)),
        (NOISE, None),
        ("", None),
        ('openjdk version ""\n', None),
    ],
)
def test_parse_version(output: str, expected: tuple[str, int] | None) -> None:
    assert java.parse_version(output) == expected


@posix_only
def test_java_on_path(no_java: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = fake_java(no_java, NOISE + TEMURIN_17)
    monkeypatch.setenv("PATH", str(folder))
    assert java.require_java() == java.JavaInfo(folder / "java", "17.0.15", 17)


@posix_only
def test_java_home_goes_before_path(no_java: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(fake_java(tmp_path / "old", JAVA_8)))
    folder = fake_java(no_java, TEMURIN_17)
    monkeypatch.setenv("JAVA_HOME", str(no_java))
    assert java.require_java().executable == folder / "java"


@posix_only
def test_empty_java_home_counts_as_unset(no_java: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(fake_java(no_java, TEMURIN_17)))
    monkeypatch.setenv("JAVA_HOME", "")
    assert java.require_java().major == 17


@pytest.mark.usefixtures("no_java")
def test_no_java_at_all() -> None:
    with pytest.raises(java.JavaError) as caught:
        java.require_java()
    assert caught.value.message == "Spark needs Java 17 or later: no `java` is on PATH and JAVA_HOME is not set."
    assert "nstall" in caught.value.remedy


@posix_only
def test_wrong_java_home_is_not_replaced_by_path(no_java: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(fake_java(no_java, TEMURIN_17)))
    monkeypatch.setenv("JAVA_HOME", str(no_java / "bin"))  # the usual slip
    with pytest.raises(java.JavaError) as caught:
        java.require_java()
    assert caught.value.message == f"JAVA_HOME is {no_java}/bin, but there is no program {no_java}/bin/bin/java."
    assert caught.value.remedy.startswith("Set JAVA_HOME to the directory that holds bin/java, or unset it")


@posix_only
def test_java_home_with_a_file_that_is_no_program(no_java: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (fake_java(no_java, TEMURIN_17) / "java").chmod(0o644)
    monkeypatch.setenv("JAVA_HOME", str(no_java))
    with pytest.raises(java.JavaError, match="there is no program"):
        java.require_java()


@posix_only
@pytest.mark.parametrize("origin", ["PATH", "JAVA_HOME"])
def test_too_old(origin: str, no_java: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = fake_java(no_java, NOISE + JAVA_8)
    monkeypatch.setenv(origin, str(folder if origin == "PATH" else no_java))
    with pytest.raises(java.JavaError) as caught:
        java.require_java()
    assert caught.value.message == (f"Spark needs Java 17 or later, and {origin} gives {folder}/java, Java 1.8.0_391.")
    assert caught.value.remedy.endswith("Then let JAVA_HOME, or PATH with JAVA_HOME unset, name the newer one.")


@posix_only
@pytest.mark.parametrize(
    ("output", "status", "message"),
    [
        (
            NOISE + "Unable to locate a Java Runtime.\n",
            1,
            " fails with status 1: Unable to locate a Java Runtime.",
        ),
        ("", 3, " fails with status 3."),
        (NOISE + "hello\n", 0, " does not tell its version: hello."),
    ],
)
def test_fails_to_run(output: str, status: int, message: str, no_java: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = fake_java(no_java, output, status)
    monkeypatch.setenv("PATH", str(folder))
    with pytest.raises(java.JavaError) as caught:
        java.require_java()
    assert caught.value.message == f"`{folder}/java -version`{message}"
    assert "nstall" in caught.value.remedy


@posix_only
def test_not_an_executable_format(no_java: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = fake_java(no_java, TEMURIN_17)
    (folder / "java").write_bytes(b"\x00\x01 not a program")
    monkeypatch.setenv("PATH", str(folder))
    with pytest.raises(java.JavaError, match="does not run: Exec format error"):
        java.require_java()


@posix_only
def test_never_ends(no_java: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = fake_java(no_java, TEMURIN_17)
    (folder / "java").write_text("#!/bin/sh\nwhile :; do :; done\n")
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(java, "_TIMEOUT_SECONDS", 0.2)
    with pytest.raises(java.JavaError, match=r"did not end in 0\.2 s"):
        java.require_java()


@pytest.mark.parametrize(
    ("system", "os_release", "command"),
    [
        ("linux", {"ID": "debian"}, "apt-get install openjdk-17-jre-headless"),
        ("linux", {"ID": "linuxmint", "ID_LIKE": "ubuntu debian"}, "apt-get install openjdk-17-jre-headless"),
        ("linux", {"ID": "fedora"}, "dnf install java-21-openjdk-headless"),
        ("linux", {"ID": "rocky", "ID_LIKE": "rhel centos fedora"}, "dnf install java-21-openjdk-headless"),
        ("linux", {"ID": "arch"}, "put `java` on PATH or set JAVA_HOME"),
        ("linux", {}, "put `java` on PATH or set JAVA_HOME"),
        ("darwin", {}, "brew install openjdk@17"),
        ("win32", {}, "winget install EclipseAdoptium.Temurin.17.JDK"),
    ],
)
def test_install_hint(system: str, os_release: dict[str, str], command: str) -> None:
    assert command in java.install_hint(system, os_release)


def run_as_program(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "streambound.synopsis_exec.java"],
        cwd=Path(java.__file__).parents[1],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_as_a_program_without_java(no_java: Path) -> None:
    done = run_as_program({"PATH": str(no_java)})
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("streambound: Spark needs Java 17 or later: no `java` is on PATH")
    assert "Traceback" not in done.stderr


@posix_only
def test_as_a_program_with_java_says_nothing(no_java: Path) -> None:
    done = run_as_program({"PATH": str(fake_java(no_java, TEMURIN_17))})
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

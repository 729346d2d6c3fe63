"""This package as a zip: what stands beside a job, and what executors import."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import zipfile
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from streambound_runtime import __version__

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ZIP = f"streambound_runtime-{__version__}.zip"
_ROOT = Path(__file__).parent
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The first time that a zip can say: the same package gives the same file."""


@cache
def zipped() -> bytes:
    """The package as a zip that Python imports from; the same package gives the same bytes."""
    if _ROOT.parent.is_file():
        return _ROOT.parent.read_bytes()
    data = BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted([*_ROOT.rglob("*.py"), _ROOT / "py.typed"]):
            name = f"streambound_runtime/{file.relative_to(_ROOT).as_posix()}"
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), file.read_bytes(), zipfile.ZIP_DEFLATED)
    return data.getvalue()


def give_to_executors(spark: SparkSession) -> None:
    """Let the Python workers of a session import this package, wherever they run."""
    _given(spark, str(spark.conf.get("spark.app.id", "")))


@cache
def _given(spark: SparkSession, app: str) -> None:
    spark.addArtifacts(str(_file()), pyfile=True)


@cache
def _file() -> Path:
    """The zip, which has to be there as long as executors fetch it."""
    if _ROOT.parent.is_file():
        return _ROOT.parent
    folder = tempfile.mkdtemp(prefix="streambound-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    file = Path(folder) / ZIP
    file.write_bytes(zipped())
    return file

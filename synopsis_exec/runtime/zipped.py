"""This package as a zip: what stands beside a job, and what executors import."""

from __future__ import annotations

import zipfile
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from streambound_runtime import __version__
from streambound_runtime.scratch import process_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ZIP = f"streambound_runtime-{__version__}.zip"
_ROOT = Path(__file__).parent
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The first time that a zip can say."""
_UNIX, _MODE = 3, 0o100644
"""The system that a zip is from, and the mode of its files: a regular file that everybody reads."""


@cache
def zipped() -> bytes:
    """The package as a zip that Python imports from; the same package gives the same bytes on every machine.

    Nothing is compressed: versions of zlib compress differently.
    """
    if _ROOT.parent.is_file():
        return _ROOT.parent.read_bytes()
    files = {file.relative_to(_ROOT).as_posix(): file for file in (*_ROOT.rglob("*.py"), _ROOT / "py.typed")}
    data = BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_STORED) as archive:
        for name, file in sorted(files.items()):
            entry = zipfile.ZipInfo(f"streambound_runtime/{name}", _EPOCH)
            entry.create_system, entry.external_attr = _UNIX, _MODE << 16
            archive.writestr(entry, file.read_bytes())
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
    file = process_folder() / ZIP
    file.write_bytes(zipped())
    return file

"""String literals mean what Spark itself reads in them."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from analyzer.query import Constant
from tests.support.cases import query_of

LITERALS = [
    "'it''s'",
    "'it' 's'",
    "''''",
    '"a""b"',
    "'a'\"b\"",
    r"'a\'b''c'",
    "r'a''b'",
    r"r'a\nb'",
    r"'a' r'\n' 'b'",
    "'a'/*c*/'b' '' 'd'",
    r"'\%x\_y\q\n\101\u00e9\U0001F600'",
]
PROGRAM = """
import json, sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
print(json.dumps([spark.sql("SELECT " + literal).first()[0] for literal in json.loads(sys.argv[1])]))
"""


@pytest.mark.spark
def test_literals() -> None:
    command = [sys.executable, "-c", PROGRAM, json.dumps(LITERALS)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    values = []
    for literal in LITERALS:
        (output,) = query_of(f"SELECT {literal} FROM S").branches[0].outputs
        assert isinstance(output.value, Constant)
        values.append(output.value.value)
    assert values == json.loads(done.stdout.splitlines()[-1])

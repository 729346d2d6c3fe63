"""For spark-submit: put a file's records into a topic of Kafka's, or get a topic's records into a file, as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main(what: str, servers: str, topic: str, file: str) -> None:
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.getOrCreate()
    if what == "put":
        records = spark.read.schema("key STRING, value STRING").json(file).coalesce(1)
        records.write.format("kafka").option("kafka.bootstrap.servers", servers).option("topic", topic).save()
        return
    reader = spark.read.format("kafka").option("kafka.bootstrap.servers", servers)
    rows = reader.option("subscribe", topic).option("includeHeaders", "true").load()
    headers = "transform(headers, h -> CAST(h.value AS STRING)) AS headers"
    found = rows.selectExpr("CAST(value AS STRING) AS value", headers).collect()
    Path(file).write_text(json.dumps([row.asDict() for row in found]), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])

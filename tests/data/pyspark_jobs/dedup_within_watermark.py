"""Duplicates that come within ten minutes of each other, whatever their times."""

# spark: window
from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("dedup_within_watermark").getOrCreate()
events = spark.readStream.schema("guid string, kind string, at timestamp").json("/data/events")
unique = events.withWatermark("at", "10 minutes").dropDuplicatesWithinWatermark(["guid"])
unique.writeStream.format("console").start()

"""A watermark that is not among the columns compared does not help."""

# spark: grows
from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("dedup_watermark_ignored").getOrCreate()
events = spark.readStream.schema("guid string, kind string, at timestamp").json("/data/events")
events.withWatermark("at", "10 minutes").dropDuplicates(["guid"]).writeStream.format("console").start()

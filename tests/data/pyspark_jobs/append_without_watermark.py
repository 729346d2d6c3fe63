"""Append mode needs a watermark for an aggregation."""

# spark: refused
from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("append_without_watermark").getOrCreate()
clicks = spark.readStream.schema("user string, page string, clicked timestamp").json("/data/landing/clicks")
clicks.groupBy("page").count().writeStream.format("console").start()

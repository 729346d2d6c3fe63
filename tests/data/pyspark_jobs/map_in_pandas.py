"""Rows through a function on pandas, then windows."""

# spark: window
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("map_in_pandas").getOrCreate()


def double(frames):
    yield from frames


readings = spark.readStream.schema("sensor string, value double, at timestamp").json("/data/readings")
doubled = readings.mapInPandas(double, "sensor string, value double, at timestamp").withWatermark("at", "1 minute")
doubled.groupBy(F.window("at", "1 minute"), "sensor").agg(F.max("value")).writeStream.format("console").start()

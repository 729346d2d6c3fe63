"""Counts of five minutes, summed by the hour."""

# spark: window
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("windows_of_windows").getOrCreate()
rate = spark.readStream.format("rate").load().withWatermark("timestamp", "1 minute")
small = rate.groupBy(F.window("timestamp", "5 minutes")).count()
large = small.groupBy(F.window(F.window_time("window"), "1 hour")).agg(F.sum("count").alias("n"))
large.writeStream.format("console").start()

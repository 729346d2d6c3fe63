"""Clicks in tumbling windows, each count once, when it is final."""

# spark: window
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("windowed_count_append").getOrCreate()
clicks = (
    spark.readStream.schema("user string, page string, clicked timestamp")
    .json("/data/landing/clicks")
    .withWatermark("clicked", "1 hour")
)
per_page = clicks.groupBy(F.window("clicked", "15 minutes"), "page").agg(F.count("*").alias("clicks"))
per_page.writeStream.outputMode("append").format("parquet").option("path", "/data/out").start()

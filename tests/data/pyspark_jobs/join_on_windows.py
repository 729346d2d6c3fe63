"""Counts of two streams, joined by their windows."""

# spark: window
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("join_on_windows").getOrCreate()


def per_window(path, time):
    stream = spark.readStream.schema(f"user bigint, {time} timestamp").json(path).withWatermark(time, "10 minutes")
    return stream.groupBy(F.window(time, "5 minutes"), "user").count()


clicks = per_window("/data/clicks", "clicked").withColumnRenamed("count", "clicks")
views = per_window("/data/views", "viewed").withColumnRenamed("count", "views")
clicks.join(views, ["window", "user"]).writeStream.format("console").start()

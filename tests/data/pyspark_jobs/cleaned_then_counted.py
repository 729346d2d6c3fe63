"""Rows are filled up, packed and unpacked, and filtered by a function of the user's, after the watermark."""

# spark: window
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("cleaned_then_counted").getOrCreate()


@F.udf("boolean")
def is_good(value):
    return value % 7 != 0


readings = spark.readStream.schema("sensor string, value int, at timestamp").json("/data/readings")
clean = readings.withWatermark("at", "10 minutes").na.fill({"value": 0}).dropna(subset=["sensor", "value"])
packed = clean.withColumn("twice", F.col("value") * 2).select(F.struct("sensor", "twice").alias("r"), "at")
good = packed.select("r.*", "at").where(is_good("twice"))
good.groupBy(F.window("at", "5 minutes"), "sensor").agg(F.sum("twice")).writeStream.format("console").start()

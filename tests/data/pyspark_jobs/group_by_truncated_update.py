"""The same in update mode, which Spark runs."""

# spark: grows
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("group_by_truncated_update").getOrCreate()
events = spark.readStream.schema("kind string, at timestamp").json("/data/events").withWatermark("at", "10 minutes")
hourly = events.withColumn("hour", F.date_trunc("hour", "at")).groupBy("hour", "kind").count()
hourly.writeStream.outputMode("update").format("console").start()

"""The first version that everybody writes: windows, and no watermark."""

# spark: grows
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("windowed_without_watermark").getOrCreate()
clicks = spark.readStream.schema("user string, page string, clicked timestamp").json("/data/landing/clicks")
counts = clicks.groupBy(F.window("clicked", "15 minutes"), "page").count()
counts.writeStream.outputMode("update").format("console").start().awaitTermination()

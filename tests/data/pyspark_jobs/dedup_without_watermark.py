"""Drop records that were sent twice, by their id alone."""

# spark: grows
from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("dedup_without_watermark").getOrCreate()
events = spark.readStream.schema("guid string, kind string, at timestamp").json("/data/events")
events.dropDuplicates(["guid"]).writeStream.format("console").start()

"""Duplicates of rows with a column that was computed, and windows of what is left."""

# spark: window
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("dedup_of_computed").getOrCreate()
events = spark.readStream.schema("guid string, cents bigint, at timestamp").json("/data/events")
euros = events.withWatermark("at", "10 minutes").withColumn("euros", F.col("cents") / 100)
unique = euros.dropDuplicates(["guid", "at"]).drop("cents")
unique.groupBy(F.window("at", "1 hour")).agg(F.sum("euros")).where("sum(euros) > 3").writeStream.format(
    "console"
).start()

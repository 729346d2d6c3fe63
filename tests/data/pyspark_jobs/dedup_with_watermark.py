"""Drop records that were sent twice; the time is a part of what is compared."""

# spark: window
from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("dedup_with_watermark").getOrCreate()
events = spark.readStream.schema("guid string, kind string, at timestamp").json("/data/events")
unique = events.withWatermark("at", "10 minutes").dropDuplicates(["guid", "at"])
unique.writeStream.format("parquet").option("path", "/data/unique").option("checkpointLocation", "/chk").start()

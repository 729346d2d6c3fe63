"""Count what is left after duplicates are dropped."""

# spark: window
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("dedup_then_count").getOrCreate()
events = spark.readStream.schema("guid string, kind string, at timestamp").json("/data/events")
(
    events.withWatermark("at", "10 minutes")
    .dropDuplicates(["guid", "at"])
    .groupBy(F.window("at", "5 minutes"), "kind")
    .count()
    .writeStream.format("console")
    .start()
)

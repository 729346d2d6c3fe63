"""A function of the user's keeps state by user."""

# spark: unread
from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("state_in_pandas").getOrCreate()


def count_up(key, frames, state):
    yield from frames


events = spark.readStream.schema("user string, at timestamp").json("/data/events").withWatermark("at", "10 minutes")
counted = events.groupBy("user").applyInPandasWithState(
    count_up, "user string, n bigint", "n bigint", "update", "NoTimeout"
)
counted.writeStream.outputMode("update").format("console").start()

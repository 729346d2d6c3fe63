"""Impressions with the clicks of the hour after each."""

# spark: window
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("impressions_and_clicks").getOrCreate()
impressions = (
    spark.readStream.format("rate")
    .load()
    .select((F.col("value") % 100).alias("impression_ad"), F.col("timestamp").alias("impression_time"))
)
clicks = (
    spark.readStream.format("rate")
    .load()
    .select((F.col("value") % 100).alias("click_ad"), F.col("timestamp").alias("click_time"))
)
joined = impressions.withWatermark("impression_time", "2 hours").join(
    clicks.withWatermark("click_time", "3 hours"),
    F.expr("""
        click_ad = impression_ad AND
        click_time >= impression_time AND
        click_time <= impression_time + interval 1 hour
    """),
)
joined.writeStream.format("console").start()

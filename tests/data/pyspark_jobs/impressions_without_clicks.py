"""The same as a left join, for impressions that nobody clicked."""

# spark: window
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("impressions_without_clicks").getOrCreate()
impressions = spark.readStream.schema("ad bigint, shown timestamp").parquet("/data/impressions")
clicks = spark.readStream.schema("ad bigint, clicked timestamp").parquet("/data/clicks")
i = impressions.withWatermark("shown", "2 hours").alias("i")
c = clicks.withWatermark("clicked", "3 hours").alias("c")
condition = (F.col("i.ad") == F.col("c.ad")) & (F.col("clicked") >= F.col("shown"))
condition = condition & (F.col("clicked") <= F.col("shown") + F.expr("INTERVAL 1 HOUR"))
i.join(c, condition, "leftOuter").writeStream.format("console").start()

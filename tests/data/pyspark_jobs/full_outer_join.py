"""Both sides whole, with a range of time."""

# spark: window
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("full_outer_join").getOrCreate()
left = spark.readStream.schema("k bigint, lt timestamp").parquet("/data/l").withWatermark("lt", "5 minutes")
right = spark.readStream.schema("rk bigint, rt timestamp").parquet("/data/r").withWatermark("rt", "5 minutes")
near = F.expr("k = rk AND rt >= lt - INTERVAL 1 MINUTE AND rt <= lt + INTERVAL 1 MINUTE")
left.join(right, near, "fullOuter").writeStream.format("console").start()

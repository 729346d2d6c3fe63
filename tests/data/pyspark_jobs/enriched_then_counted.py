"""A join with a table, then windows."""

# spark: window
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("enriched_then_counted").getOrCreate()
shops = spark.createDataFrame([(1, "north"), (2, "south")], "shop bigint, region string")
sales = spark.readStream.schema("shop bigint, amount double, sold timestamp").csv("/data/sales")
(
    sales.withWatermark("sold", "30 minutes")
    .join(F.broadcast(shops), "shop")
    .groupBy(F.window("sold", "1 hour"), "region")
    .agg(F.sum("amount").alias("revenue"))
    .writeStream.format("console")
    .start()
)

"""The rows go into a table."""

# spark: window
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("to_a_table").getOrCreate()
sales = spark.readStream.schema("shop bigint, amount double, sold timestamp").json("/data/sales")
daily = (
    sales.withWatermark("sold", "1 day")
    .groupBy(F.window("sold", "1 day").alias("day"), "shop")
    .agg(F.sum("amount").alias("total"))
)
daily.select("day.start", "shop", "total").writeStream.option("checkpointLocation", "/chk/daily").toTable("daily")

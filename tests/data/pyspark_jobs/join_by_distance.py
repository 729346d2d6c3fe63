"""The distance as seconds, which Spark does not read as a bound."""

# spark: grows
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("join_by_distance").getOrCreate()
orders = (
    spark.readStream.schema("id bigint, ordered timestamp").json("/data/orders").withWatermark("ordered", "10 minutes")
)
payments = (
    spark.readStream.schema("order_id bigint, paid timestamp")
    .json("/data/payments")
    .withWatermark("paid", "10 minutes")
)
soon = F.abs(F.unix_timestamp("paid") - F.unix_timestamp("ordered")) <= 1800
orders.join(payments, (F.col("id") == F.col("order_id")) & soon).writeStream.format("console").start()

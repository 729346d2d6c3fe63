"""A join with a range, and windows of what comes out."""

# spark: window
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("join_then_window").getOrCreate()
orders = (
    spark.readStream.schema("id bigint, ordered timestamp").json("/data/orders").withWatermark("ordered", "10 minutes")
)
payments = (
    spark.readStream.schema("order_id bigint, paid timestamp")
    .json("/data/payments")
    .withWatermark("paid", "10 minutes")
)
near = F.expr("id = order_id AND paid >= ordered AND paid <= ordered + INTERVAL 1 HOUR")
joined = orders.join(payments, near).select("id", "ordered")
joined.groupBy(F.window("ordered", "10 minutes")).count().writeStream.format("console").start()

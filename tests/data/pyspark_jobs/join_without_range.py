"""A join of two streams by their key alone."""

# spark: grows
from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("join_without_range").getOrCreate()
orders = spark.readStream.schema("order_id bigint, amount double, ordered timestamp").json("/data/orders")
payments = spark.readStream.schema("order_id bigint, paid timestamp").json("/data/payments")
paid = orders.withWatermark("ordered", "1 hour").join(payments.withWatermark("paid", "1 hour"), "order_id")
paid.writeStream.format("console").start()

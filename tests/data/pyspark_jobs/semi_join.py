"""Orders that were paid within the hour."""

# spark: window
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("semi_join").getOrCreate()
orders = (
    spark.readStream.schema("id bigint, ordered timestamp").json("/data/orders").withWatermark("ordered", "10 minutes")
)
payments = (
    spark.readStream.schema("order_id bigint, paid timestamp")
    .json("/data/payments")
    .withWatermark("paid", "10 minutes")
)
near = F.expr("id = order_id AND paid >= ordered AND paid <= ordered + INTERVAL 1 HOUR")
orders.join(payments, near, "leftSemi").writeStream.format("console").start()

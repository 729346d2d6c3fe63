"""A watermark on one side of a join only."""

# spark: grows
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("join_one_watermark").getOrCreate()
orders = (
    spark.readStream.schema("id bigint, ordered timestamp").json("/data/orders").withWatermark("ordered", "10 minutes")
)
payments = spark.readStream.schema("order_id bigint, paid timestamp").json("/data/payments")
near = F.expr("id = order_id AND paid BETWEEN ordered AND ordered + INTERVAL 30 MINUTES")
orders.join(payments, near).writeStream.format("console").start()

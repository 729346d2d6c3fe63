"""An outer join of streams needs a watermark."""

# spark: refused
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("left_join_without_watermark").getOrCreate()
orders = spark.readStream.schema("id bigint, ordered timestamp").json("/data/orders")
payments = spark.readStream.schema("order_id bigint, paid timestamp").json("/data/payments")
orders.join(payments, F.col("id") == F.col("order_id"), "left").writeStream.format("console").start()

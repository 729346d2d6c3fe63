"""A join whose condition is BETWEEN, in SQL over temporary views."""

# spark: window
from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("join_by_between").getOrCreate()
spark.readStream.schema("id bigint, ts timestamp").json("/data/orders").withWatermark(
    "ts", "10 minutes"
).createOrReplaceTempView("orders")
spark.readStream.schema("id bigint, ts timestamp").json("/data/payments").withWatermark(
    "ts", "10 minutes"
).createOrReplaceTempView("payments")
paid = spark.sql("""
    SELECT o.id, o.ts AS ordered, p.ts AS paid
    FROM orders o JOIN payments p ON o.id = p.id AND p.ts BETWEEN o.ts AND o.ts + INTERVAL 30 MINUTES
""")
paid.writeStream.format("console").start()

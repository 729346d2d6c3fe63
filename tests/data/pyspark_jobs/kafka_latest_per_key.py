"""The latest value of every key of a Kafka topic."""

# spark: grows
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("kafka_latest_per_key").getOrCreate()
raw = spark.readStream.format("kafka").option("kafka.bootstrap.servers", "b:9092").option("subscribe", "prices").load()
prices = raw.select(
    F.col("key").cast("string").alias("symbol"), F.col("value").cast("string").alias("price"), "timestamp"
)
latest = prices.groupBy("symbol").agg(F.max_by("price", "timestamp").alias("price"))
latest.writeStream.outputMode("update").format("console").start()

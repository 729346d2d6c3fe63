"""The ten largest, in order, of rows as they come."""

# spark: refused
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("top_of_a_stream").getOrCreate()
sales = spark.readStream.schema("shop bigint, amount double").json("/data/sales")
sales.orderBy(F.desc("amount")).limit(10).writeStream.format("console").start()

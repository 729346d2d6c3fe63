"""One number over all rows."""

# spark: constant
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("running_total").getOrCreate()
sales = spark.readStream.schema("shop bigint, amount double").json("/data/sales")
sales.agg(F.sum("amount").alias("total")).writeStream.outputMode("complete").format("console").start()

"""Rows of a stream with what a table says of them."""

# spark: none
from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("enriched_by_table").getOrCreate()
people = spark.createDataFrame([(1, "Ada"), (2, "Grace")], "user bigint, name string")
clicks = spark.readStream.schema("user bigint, page string, clicked timestamp").json("/data/clicks")
clicks.join(people, "user", "left_outer").writeStream.format("console").start()

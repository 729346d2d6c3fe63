"""A right join keeps the table's rows, which Spark cannot do."""

# spark: refused
from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("static_side_preserved").getOrCreate()
people = spark.createDataFrame([(1, "Ada")], "user bigint, name string")
clicks = spark.readStream.schema("user bigint, page string, clicked timestamp").json("/data/clicks")
clicks.join(people, "user", "right_outer").writeStream.format("console").start()

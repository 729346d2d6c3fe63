"""An exact count of distinct users, which Spark does not compute of a stream."""

# spark: refused
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("distinct_users").getOrCreate()
web = spark.readStream.schema("user string, at timestamp").json("/data/web").withWatermark("at", "10 minutes")
web.groupBy(F.window("at", "5 minutes")).agg(F.countDistinct("user")).writeStream.format("console").start()

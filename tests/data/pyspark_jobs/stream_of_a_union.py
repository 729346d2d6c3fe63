"""Two topics together, in windows."""

# spark: window
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("stream_of_a_union").getOrCreate()
web = spark.readStream.schema("user string, at timestamp").json("/data/web").withWatermark("at", "10 minutes")
app = spark.readStream.schema("user string, at timestamp").json("/data/app").withWatermark("at", "10 minutes")
both = web.union(app)
both.groupBy(F.window("at", "5 minutes")).agg(F.approx_count_distinct("user").alias("users")).writeStream.format(
    "console"
).start()

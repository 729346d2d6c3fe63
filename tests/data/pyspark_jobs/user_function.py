"""A function of the user's in Python before the windows."""

# spark: window
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("user_function").getOrCreate()


@F.udf("string")
def domain(url):
    return url.split("/")[2]


visits = spark.readStream.schema("url string, at timestamp").json("/data/visits").withWatermark("at", "1 hour")
(
    visits.select(domain("url").alias("site"), "at")
    .groupBy("site", F.window("at", "1 day"))
    .count()
    .writeStream.format("console")
    .start()
)

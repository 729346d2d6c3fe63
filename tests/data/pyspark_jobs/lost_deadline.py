"""A deadline that is a column: Spark takes the bound for one of the event time."""

# spark: window
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("lost_deadline").getOrCreate()
offers = (
    spark.readStream.schema("id bigint, made timestamp, hours int")
    .json("/data/offers")
    .withWatermark("made", "10 minutes")
)
offers = offers.withColumn("deadline", F.col("made") + F.expr("INTERVAL 2 HOURS"))
bids = spark.readStream.schema("offer bigint, bid timestamp").json("/data/bids").withWatermark("bid", "10 minutes")
near = F.expr("id = offer AND bid >= made AND bid <= deadline")
offers.join(bids, near).writeStream.format("console").start()

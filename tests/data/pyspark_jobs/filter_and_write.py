"""Pass rows on, cleaned; nothing is kept."""

# spark: none
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("filter_and_write").getOrCreate()
raw = spark.readStream.schema("device string, signal int, at timestamp").json("/data/devices")
good = (
    raw.where("signal > 10").select("device", F.upper("device").alias("name"), "at").withColumn("day", F.to_date("at"))
)
query = (
    good.writeStream.format("parquet")
    .partitionBy("day")
    .option("path", "/data/good")
    .option("checkpointLocation", "/chk/good")
    .queryName("clean")
    .trigger(availableNow=True)
    .start()
)
query.processAllAvailable()
query.stop()

"""Two queries of one program; the second one waits for all."""

# spark: none, window
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("two_queries").getOrCreate()
base = spark.readStream.format("rate").load()
base.where("value % 2 = 0").writeStream.queryName("even").format("console").start()
counted = base.withWatermark("timestamp", "10 seconds").groupBy(F.window("timestamp", "30 seconds")).count()
counted.writeStream.queryName("counted").format("memory").start()
spark.streams.awaitAnyTermination()

"""Words in windows of ten minutes that slide by five, late ones for ten minutes."""

# spark: window
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("windowed_word_count_by_name").getOrCreate()
lines = spark.readStream.format("rate").option("rowsPerSecond", 5).load()
words = lines.select(F.col("timestamp"), F.concat(F.lit("word"), F.col("value") % 7).alias("word"))
windowed = (
    words.withWatermark("timestamp", "10 minutes")
    .groupBy(F.window("timestamp", "10 minutes", "5 minutes"), "word")
    .count()
)
windowed.writeStream.outputMode("update").format("console").start().awaitTermination()

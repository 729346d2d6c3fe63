"""Words in windows, as the guide has them: the columns are those of before the watermark, and have none."""

# spark: grows
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("windowed_word_count").getOrCreate()
lines = spark.readStream.format("rate").option("rowsPerSecond", 5).load()
words = lines.select(F.col("timestamp"), F.concat(F.lit("word"), F.col("value") % 7).alias("word"))
windowed = (
    words.withWatermark("timestamp", "10 minutes")
    .groupBy(F.window(words.timestamp, "10 minutes", "5 minutes"), words.word)
    .count()
)
windowed.writeStream.outputMode("update").format("console").start().awaitTermination()

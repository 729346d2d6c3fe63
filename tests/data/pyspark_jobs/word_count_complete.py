"""Count words of a socket, all counts at every trigger."""

# spark: grows
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("word_count_complete").getOrCreate()
lines = spark.readStream.format("socket").option("host", "localhost").option("port", 9999).load()
words = lines.select(F.explode(F.split(lines.value, " ")).alias("word"))
counts = words.groupBy("word").count()
query = counts.writeStream.outputMode("complete").format("console").start()
query.awaitTermination()

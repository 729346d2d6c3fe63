"""The ten most frequent words so far, in order."""

# spark: grows
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("most_frequent").getOrCreate()
words = spark.readStream.schema("word string, at timestamp").json("/data/words")
counts = words.groupBy("word").count().orderBy(F.desc("count")).limit(10)
counts.writeStream.outputMode("complete").format("console").start()

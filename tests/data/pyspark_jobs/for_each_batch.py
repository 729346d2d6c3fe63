"""What a function writes of every batch: the aggregation is Spark's all the same."""

# spark: grows
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("for_each_batch").getOrCreate()


def upsert(batch, number):
    batch.write.mode("overwrite").saveAsTable(f"totals_{number}")


sales = spark.readStream.schema("shop bigint, amount double").json("/data/sales")
totals = sales.groupBy("shop").agg(F.sum("amount").alias("total"))
totals.writeStream.outputMode("update").foreachBatch(upsert).trigger(
    processingTime="1 minute"
).start().awaitTermination()

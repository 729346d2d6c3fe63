"""Readings of a Kafka topic as JSON, averaged by sensor and minute."""

# spark: window
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import DoubleType, StringType, StructField, StructType, TimestampType

spark = SparkSession.builder.appName("kafka_json_window").getOrCreate()
schema = StructType(
    [StructField("sensor", StringType()), StructField("value", DoubleType()), StructField("at", TimestampType())]
)
raw = (
    spark.readStream.format("kafka")
    .option("kafka.bootstrap.servers", "broker:9092")
    .option("subscribe", "readings")
    .load()
)
readings = raw.select(F.from_json(F.col("value").cast("string"), schema).alias("r")).select("r.*")
means = (
    readings.withWatermark("at", "2 minutes")
    .groupBy(F.window("at", "1 minute"), "sensor")
    .agg(F.avg("value").alias("mean"), F.max("value").alias("most"))
)
(
    means.selectExpr("CAST(sensor AS STRING) AS key", "to_json(struct(*)) AS value")
    .writeStream.format("kafka")
    .option("topic", "means")
    .option("checkpointLocation", "/chk/means")
    .start()
)

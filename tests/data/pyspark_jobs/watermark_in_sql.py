"""The watermark is declared in SQL."""

# spark: window
from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("watermark_in_sql").getOrCreate()
spark.readStream.schema("sensor string, value double, at timestamp").json("/data/readings").createOrReplaceTempView(
    "readings"
)
hourly = spark.sql("""
    SELECT window.start AS hour, sensor, max(value) AS most
    FROM readings WATERMARK at DELAY OF INTERVAL 10 MINUTES
    GROUP BY window(at, '1 hour'), sensor
""")
hourly.writeStream.format("console").start()

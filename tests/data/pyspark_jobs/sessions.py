"""Sessions of users: a gap of five minutes ends one."""

# spark: window
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("sessions").getOrCreate()
events = spark.readStream.schema("user string, at timestamp").json("/data/events").withWatermark("at", "10 minutes")
sessions = events.groupBy(F.session_window(events.at, "5 minutes"), events.user).count()
sessions.writeStream.format("console").start()

"""Sessions whose gap is another one for some users."""

# spark: unread
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("sessions_of_their_own_gap").getOrCreate()
events = spark.readStream.schema("user string, at timestamp").json("/data/events").withWatermark("at", "10 minutes")
gap = F.when(events.user == "robot", "5 seconds").otherwise("5 minutes")
events.groupBy(F.session_window(events.at, gap), events.user).count().writeStream.format("console").start()

-- Flink's window aggregation, as Flink writes it: the sum of the prices of each ten minutes.
SELECT window_start, window_end, SUM(price) AS total_price
FROM TUMBLE(TABLE bid, DESCRIPTOR(dateTime), INTERVAL '10' MINUTES)
GROUP BY window_start, window_end

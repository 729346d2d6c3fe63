-- Nexmark 12, processing time windows: how many bids does a user make in 10 seconds of the clock of the machine?
SELECT bidder, COUNT(*) AS bid_count, window.start AS starttime, window.end AS endtime
FROM (
  SELECT *, CURRENT_TIMESTAMP() AS p_time
  FROM bid
)
GROUP BY bidder, window(p_time, '10 seconds')

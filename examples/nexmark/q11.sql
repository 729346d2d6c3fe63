-- Nexmark 11, user sessions: how many bids does a user make in each session, which ends after 10 seconds without one?
SELECT
  bidder,
  COUNT(*) AS bid_count,
  session_window.start AS starttime,
  session_window.end AS endtime
FROM bid
GROUP BY bidder, session_window(dateTime, '10 seconds')

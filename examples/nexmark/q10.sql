-- Nexmark 10, log to file system: every bid with its day and minute, by which a sink partitions its files.
SELECT
  auction, bidder, price, dateTime, extra,
  DATE_FORMAT(dateTime, 'yyyy-MM-dd') AS dt,
  DATE_FORMAT(dateTime, 'HH:mm') AS hm
FROM bid

-- Flink's window Top-N: the three auctions with the highest sums of prices of each ten minutes.
SELECT starttime, endtime, auction, total, rownum
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY starttime, endtime ORDER BY total DESC) AS rownum
  FROM (
    SELECT window.start AS starttime, window.end AS endtime, auction, SUM(price) AS total
    FROM bid
    GROUP BY window(dateTime, '10 minutes'), auction
  )
)
WHERE rownum <= 3

-- Nexmark 5, hot items: which auctions had the most bids in the last 10 seconds, every 2 seconds?
SELECT AuctionBids.auction, AuctionBids.num
FROM (
  SELECT auction, COUNT(*) AS num, window.start AS starttime, window.end AS endtime
  FROM bid
  GROUP BY auction, window(dateTime, '10 seconds', '2 seconds')
) AS AuctionBids
JOIN (
  SELECT MAX(CountBids.num) AS maxn, CountBids.starttime, CountBids.endtime
  FROM (
    SELECT COUNT(*) AS num, window.start AS starttime, window.end AS endtime
    FROM bid
    GROUP BY auction, window(dateTime, '10 seconds', '2 seconds')
  ) AS CountBids
  GROUP BY CountBids.starttime, CountBids.endtime
) AS MaxBids
  ON AuctionBids.starttime = MaxBids.starttime
  AND AuctionBids.endtime = MaxBids.endtime
  AND AuctionBids.num >= MaxBids.maxn

-- Nexmark 7, highest bid: the bids of the highest price of each 10 seconds.
SELECT B.auction, B.price, B.bidder, B.dateTime, B.extra
FROM bid AS B
JOIN (
  SELECT MAX(price) AS maxprice, window.end AS endtime
  FROM bid
  GROUP BY window(dateTime, '10 seconds')
) AS B1 ON B.price = B1.maxprice
WHERE B.dateTime BETWEEN B1.endtime - INTERVAL '10' SECOND AND B1.endtime

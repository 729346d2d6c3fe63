-- streambound: emit final
SELECT auction, COUNT(*) AS bids, MAX(price) AS best, AVG(price) AS mean
FROM bid
GROUP BY auction

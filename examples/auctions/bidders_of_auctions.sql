SELECT DISTINCT auction, bidder
FROM bid
WHERE bidder BETWEEN 1 AND 9

SELECT bidder, COUNT(*) AS bids
FROM bid
GROUP BY bidder

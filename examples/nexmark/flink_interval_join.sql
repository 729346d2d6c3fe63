-- Flink's interval join: bids within an hour after their auction began.
SELECT A.id, A.seller, B.bidder, B.price
FROM auction AS A, bid AS B
WHERE A.id = B.auction AND B.dateTime BETWEEN A.dateTime AND A.dateTime + INTERVAL '1' HOUR

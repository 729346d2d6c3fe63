-- Flink's temporal join: auctions with the name that their category had when they began.
SELECT A.id, A.initialBid, C.name
FROM auction AS A
LEFT JOIN category FOR SYSTEM_TIME AS OF A.dateTime AS C ON A.category = C.id

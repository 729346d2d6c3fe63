-- Offers without a bid so far; a bid takes its offer back.
SELECT o.id, o.seller
FROM offer AS o
WHERE NOT EXISTS (SELECT 1 FROM bid AS b WHERE b.auction = o.id)

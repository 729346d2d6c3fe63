-- streambound: emit final
-- What each auction has brought, when it is over: Nexmark's q9 and q20.
SELECT o.id, o.seller, MAX(b.price) AS best, COUNT(*) AS bids
FROM offer AS o
JOIN bid AS b ON b.auction = o.id AND o.ts <= b.ts
GROUP BY o.id, o.seller

-- The mean of the best prices of a category's auctions: Nexmark's q4.
SELECT q.category, AVG(q.best) AS mean
FROM (
  SELECT o.id, o.category, MAX(b.price) AS best
  FROM offer AS o
  JOIN bid AS b ON b.auction = o.id AND o.ts <= b.ts
  GROUP BY o.id, o.category
) AS q
GROUP BY q.category

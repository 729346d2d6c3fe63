-- Nexmark 4, average price for a category: the mean of the winning bids of all auctions of each category.
SELECT Q.category, AVG(Q.final) AS final
FROM (
  SELECT MAX(B.price) AS final, A.category
  FROM auction AS A, bid AS B
  WHERE A.id = B.auction AND B.dateTime BETWEEN A.dateTime AND A.expires
  GROUP BY A.id, A.category
) AS Q
GROUP BY Q.category

-- a relation alone
SELECT R.n FROM R

-- a star over tables
SELECT * FROM (SELECT a, b FROM S) q, R WHERE q.a = R.a

-- a qualified star
SELECT q.* FROM (SELECT * FROM R) AS q, T WHERE q.a = t.a

-- stars of two subqueries
SELECT x.a, y.b FROM (SELECT * FROM S) x, (SELECT * FROM T) y WHERE x.a = y.a AND x.at >= y.ts

-- a subquery with names
SELECT q.u FROM (SELECT b, at FROM S) AS q(u, v) JOIN T ON T.ts < q.v AND T.a = q.u

-- a common table expression twice
WITH c AS (SELECT a AS k, b, at FROM S WHERE b > 0) SELECT x.k, y.b FROM c AS x, c AS y WHERE x.at < y.at

-- one with names, and one on top
WITH c(k, v) AS (SELECT a, at FROM S), d AS (SELECT * FROM c, R WHERE c.k = R.a) SELECT n, k FROM d

-- one that hides a stream
WITH T AS (SELECT a, at FROM S) SELECT T.a, R.n FROM T, R WHERE T.a = R.a

-- one with other names where it is used
WITH c AS (SELECT a, at FROM S) SELECT q.u, T.b FROM c AS q(u, v), T WHERE q.v = T.ts

-- a bag union
SELECT a, 1 AS one FROM S UNION ALL SELECT b, 2 FROM T UNION ALL SELECT a, 3 FROM R

-- a set union
SELECT a FROM S UNION SELECT b FROM T UNION SELECT a FROM R

-- a union below a join
SELECT q.a, R.n FROM (SELECT a FROM S UNION ALL SELECT b FROM T) q JOIN R ON R.a = q.a

-- a set of a subset
SELECT DISTINCT q.a FROM (SELECT DISTINCT a, b FROM S) q, T WHERE T.a = q.b

-- in parentheses
(SELECT DISTINCT a FROM S)

-- a key
SELECT w.start AS s, w.end AS e, MAX(n) AS m FROM (SELECT window(ts, '4 minutes') AS w, b, COUNT(*) AS n FROM S GROUP BY window(ts, '4 minutes'), b) GROUP BY w;
SELECT s, e, MAX(n) AS m FROM (SELECT window(ts, '4 minutes').start AS s, window(ts, '4 minutes').end AS e, b, COUNT(*) AS n FROM S GROUP BY window(ts, '4 minutes'), b) GROUP BY s, e

-- a key, by number
SELECT x.start AS s, b, m FROM (SELECT q.w AS x, b, SUM(n) AS m FROM (SELECT window(ts, '4 minutes') AS w, b, COUNT(*) AS n FROM S GROUP BY window(ts, '4 minutes'), b) q WHERE n > 0 GROUP BY 1, 2);
SELECT s, b, SUM(n) AS m FROM (SELECT window(ts, '4 minutes').start AS s, window(ts, '4 minutes').end AS e, b, COUNT(*) AS n FROM S GROUP BY window(ts, '4 minutes'), b) WHERE n > 0 GROUP BY s, e, b

-- an end
SELECT q.w.start AS s, SUM(n) AS m FROM (SELECT window(ts, '4 minutes') AS w, b, COUNT(*) AS n FROM S GROUP BY window(ts, '4 minutes'), b) AS q GROUP BY q.w.start HAVING MIN(w.end) IS NOT NULL;
SELECT s, SUM(n) AS m FROM (SELECT window(ts, '4 minutes').start AS s, window(ts, '4 minutes').end AS e, b, COUNT(*) AS n FROM S GROUP BY window(ts, '4 minutes'), b) GROUP BY s HAVING MIN(e) IS NOT NULL

-- a partition
SELECT w.start AS s, b, r FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY w ORDER BY n DESC, b) AS r FROM (SELECT window(ts, '4 minutes') AS w, b, COUNT(*) AS n FROM S GROUP BY window(ts, '4 minutes'), b)) WHERE r < 3;
SELECT s, b, r FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY s, e ORDER BY n DESC, b) AS r FROM (SELECT window(ts, '4 minutes').start AS s, window(ts, '4 minutes').end AS e, b, COUNT(*) AS n FROM S GROUP BY window(ts, '4 minutes'), b)) WHERE r < 3

-- an order
SELECT w.end AS e, m - LAG(m) OVER (ORDER BY w) AS d FROM (SELECT window(ts, '4 minutes') AS w, COUNT(*) AS m FROM T GROUP BY window(ts, '4 minutes'));
SELECT e, m - LAG(m) OVER (ORDER BY s, e) AS d FROM (SELECT window(ts, '4 minutes').start AS s, window(ts, '4 minutes').end AS e, COUNT(*) AS m FROM T GROUP BY window(ts, '4 minutes'))

-- a join
SELECT p.w.start AS s, p.n, q.m FROM (SELECT window(ts, '4 minutes') AS w, b, COUNT(*) AS n FROM S GROUP BY window(ts, '4 minutes'), b) AS p JOIN (SELECT window(ts, '4 minutes') AS w, COUNT(*) AS m FROM T GROUP BY window(ts, '4 minutes')) AS q ON p.w = q.w AND p.n > q.m;
SELECT p.s, p.n, q.m FROM (SELECT window(ts, '4 minutes').start AS s, window(ts, '4 minutes').end AS e, b, COUNT(*) AS n FROM S GROUP BY window(ts, '4 minutes'), b) AS p JOIN (SELECT window(ts, '4 minutes').start AS s, window(ts, '4 minutes').end AS e, COUNT(*) AS m FROM T GROUP BY window(ts, '4 minutes')) AS q ON p.s = q.s AND p.e = q.e AND p.n > q.m

-- a join that leaves it NULL
SELECT p.w.start AS s, p.n, q.m, q.w.end AS e FROM (SELECT window(ts, '4 minutes') AS w, b, COUNT(*) AS n FROM S GROUP BY window(ts, '4 minutes'), b) AS p LEFT JOIN (SELECT window(ts, '4 minutes') AS w, COUNT(*) AS m FROM T GROUP BY window(ts, '4 minutes')) AS q ON p.w = q.w WHERE q.w IS NULL OR p.n > q.m;
SELECT p.s, p.n, q.m, q.e FROM (SELECT window(ts, '4 minutes').start AS s, window(ts, '4 minutes').end AS e, b, COUNT(*) AS n FROM S GROUP BY window(ts, '4 minutes'), b) AS p LEFT JOIN (SELECT window(ts, '4 minutes').start AS s, window(ts, '4 minutes').end AS e, COUNT(*) AS m FROM T GROUP BY window(ts, '4 minutes')) AS q ON p.s = q.s AND p.e = q.e WHERE q.s IS NULL OR p.n > q.m

-- an anti join in other words
SELECT p.w.start AS s, p.n FROM (SELECT window(ts, '4 minutes') AS w, b, COUNT(*) AS n FROM S GROUP BY window(ts, '4 minutes'), b) AS p LEFT JOIN (SELECT window(ts, '4 minutes') AS w, COUNT(*) AS m FROM T GROUP BY window(ts, '4 minutes')) AS q ON p.w = q.w AND p.n = q.m WHERE q.w IS NULL;
SELECT p.s, p.n FROM (SELECT window(ts, '4 minutes').start AS s, window(ts, '4 minutes').end AS e, b, COUNT(*) AS n FROM S GROUP BY window(ts, '4 minutes'), b) AS p LEFT JOIN (SELECT window(ts, '4 minutes').start AS s, window(ts, '4 minutes').end AS e, COUNT(*) AS m FROM T GROUP BY window(ts, '4 minutes')) AS q ON p.s = q.s AND p.e = q.e AND p.n = q.m WHERE q.s IS NULL

-- how many are there
SELECT p.w.start AS s, COUNT(*) AS n, COUNT(q.w) AS m FROM (SELECT window(ts, '4 minutes') AS w, b, COUNT(*) AS n FROM S GROUP BY window(ts, '4 minutes'), b) AS p LEFT JOIN (SELECT window(ts, '4 minutes') AS w, COUNT(*) AS m FROM T GROUP BY window(ts, '4 minutes')) AS q ON p.w = q.w AND p.n = q.m GROUP BY p.w;
SELECT p.s, COUNT(*) AS n, COUNT(q.s) AS m FROM (SELECT window(ts, '4 minutes').start AS s, window(ts, '4 minutes').end AS e, b, COUNT(*) AS n FROM S GROUP BY window(ts, '4 minutes'), b) AS p LEFT JOIN (SELECT window(ts, '4 minutes').start AS s, window(ts, '4 minutes').end AS e, COUNT(*) AS m FROM T GROUP BY window(ts, '4 minutes')) AS q ON p.s = q.s AND p.e = q.e AND p.n = q.m GROUP BY p.s, p.e

-- in a subquery
SELECT p.w.start AS s, p.n FROM (SELECT window(ts, '4 minutes') AS w, b, COUNT(*) AS n FROM S GROUP BY window(ts, '4 minutes'), b) AS p WHERE EXISTS (SELECT 1 FROM (SELECT window(ts, '4 minutes') AS w, COUNT(*) AS m FROM T GROUP BY window(ts, '4 minutes')) AS q WHERE q.w = p.w AND q.m > p.n);
SELECT p.s, p.n FROM (SELECT window(ts, '4 minutes').start AS s, window(ts, '4 minutes').end AS e, b, COUNT(*) AS n FROM S GROUP BY window(ts, '4 minutes'), b) AS p WHERE EXISTS (SELECT 1 FROM (SELECT window(ts, '4 minutes').start AS s, window(ts, '4 minutes').end AS e, COUNT(*) AS m FROM T GROUP BY window(ts, '4 minutes')) AS q WHERE q.s = p.s AND q.e = p.e AND q.m > p.n)

-- of common tables
WITH p AS (SELECT window(ts, '4 minutes') AS w, b, COUNT(*) AS n FROM S GROUP BY window(ts, '4 minutes'), b), q AS (SELECT w, b FROM p WHERE n > 1) SELECT w.end, COUNT(*) AS c FROM q GROUP BY w;
SELECT e AS end, COUNT(*) AS c FROM (SELECT window(ts, '4 minutes').start AS s, window(ts, '4 minutes').end AS e, b, COUNT(*) AS n FROM S GROUP BY window(ts, '4 minutes'), b) WHERE n > 1 GROUP BY s, e

-- once
SELECT w.start AS s, w.end AS e FROM (SELECT DISTINCT window(ts, '4 minutes') AS w FROM S);
SELECT DISTINCT window(ts, '4 minutes').start AS s, window(ts, '4 minutes').end AS e FROM S

-- once, of groups
SELECT w.start AS s, w.end AS e FROM (SELECT DISTINCT w FROM (SELECT window(ts, '4 minutes') AS w, b, COUNT(*) AS n FROM S GROUP BY window(ts, '4 minutes'), b) WHERE n > 1);
SELECT DISTINCT s, e FROM (SELECT window(ts, '4 minutes').start AS s, window(ts, '4 minutes').end AS e, b, COUNT(*) AS n FROM S GROUP BY window(ts, '4 minutes'), b) WHERE n > 1

-- both sides of a union
SELECT w.start AS s, n FROM (SELECT w, n FROM (SELECT window(ts, '4 minutes') AS w, b, COUNT(*) AS n FROM S GROUP BY window(ts, '4 minutes'), b) UNION ALL SELECT w, m FROM (SELECT window(ts, '4 minutes') AS w, COUNT(*) AS m FROM T GROUP BY window(ts, '4 minutes')));
SELECT s, n FROM (SELECT window(ts, '4 minutes').start AS s, window(ts, '4 minutes').end AS e, b, COUNT(*) AS n FROM S GROUP BY window(ts, '4 minutes'), b) UNION ALL SELECT s, m FROM (SELECT window(ts, '4 minutes').start AS s, window(ts, '4 minutes').end AS e, COUNT(*) AS m FROM T GROUP BY window(ts, '4 minutes'))

-- called as its function
SELECT window.start AS s, COUNT(*) AS c FROM (SELECT window(ts, '4 minutes'), b FROM S GROUP BY window(ts, '4 minutes'), b) GROUP BY window;
SELECT s, COUNT(*) AS c FROM (SELECT window(ts, '4 minutes').start AS s, window(ts, '4 minutes').end AS e, b, COUNT(*) AS n FROM S GROUP BY window(ts, '4 minutes'), b) GROUP BY s, e

-- of nothing but rows
SELECT w.start AS s, v FROM (SELECT window(ts, '4 minutes') AS w, v FROM S WHERE v > 0);
SELECT window(ts, '4 minutes').start AS s, v FROM S WHERE v > 0

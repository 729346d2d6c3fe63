-- [streams.S]
-- timestamp = "ts"
-- columns = { a = "bigint", b = "bigint", v = "bigint", k = "string", ts = "timestamp" }
-- domain = { b = [0, 2], k = ["x", "y"] }
-- max_rate = { rows = 10, per = "1 second" }
-- [streams.T]
-- timestamp = "ts"
-- columns = { a = "bigint", b = "bigint", v = "bigint", k = "string", ts = "timestamp" }
-- domain = { b = [0, 2], k = ["x", "y"] }
-- max_rate = { rows = 10, per = "1 second" }
-- [streams.U]
-- timestamp = "ts"
-- columns = { a = "bigint", b = "bigint", v = "bigint", k = "string", ts = "timestamp" }
-- domain = { b = [0, 2], k = ["x", "y"] }
-- max_rate = { rows = 10, per = "1 second" }
-- [relations.R]
-- columns = { a = "bigint", y = "bigint" }
-- rows = 50
-- changes = { timestamp = "ts", op = "op", key = ["a"] }

-- Functions over windows.
--

-- an OR below LAG
SELECT x FROM (SELECT LAG(v) OVER (PARTITION BY b ORDER BY ts) AS x FROM S WHERE a = 1 OR v = 2) q
-- 4

-- an IN below LAG
SELECT x FROM (SELECT LAG(v) OVER (PARTITION BY b ORDER BY ts) AS x FROM S WHERE k IN ('x', 'y')) q
-- 4

-- an OR below a running sum
SELECT x FROM (SELECT SUM(v) OVER (PARTITION BY b ORDER BY ts ROWS UNBOUNDED PRECEDING) AS x FROM S WHERE a = 1 OR v = 2) q
-- 4

-- an IN below a RANGE frame, by any partition
SELECT x FROM (SELECT SUM(v) OVER (PARTITION BY a ORDER BY ts RANGE BETWEEN INTERVAL 1 MINUTE PRECEDING AND CURRENT ROW) AS x FROM S WHERE k IN ('x', 'y')) q
-- 60*rate_S

-- NOT NULL of a CASE below LAG
SELECT x FROM (SELECT LAG(state) OVER (PARTITION BY b ORDER BY ts) AS x FROM (SELECT b, ts, CASE WHEN v > 5 THEN 'hot' WHEN v < 0 THEN 'cold' END AS state FROM S) p WHERE state IS NOT NULL) q
-- 4

-- complementary branches of a union
SELECT x FROM (SELECT LAG(v) OVER (PARTITION BY b ORDER BY ts) AS x FROM (SELECT * FROM S WHERE a > 0 UNION ALL SELECT * FROM S WHERE a <= 0) p) q
-- 4

-- a row before and a running sum
SELECT LAG(v, 5) OVER (PARTITION BY b ORDER BY ts) AS x, SUM(v) OVER (PARTITION BY b ORDER BY ts ROWS UNBOUNDED PRECEDING) AS y FROM S
-- 24

-- a running sum with rows that follow
SELECT SUM(v) OVER (PARTITION BY b ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND 3 FOLLOWING) AS x FROM S
-- unbounded

-- a running sum with a minute that follows
SELECT SUM(v) OVER (PARTITION BY b ORDER BY ts RANGE BETWEEN UNBOUNDED PRECEDING AND INTERVAL 1 MINUTE FOLLOWING) AS x FROM S
-- unbounded

-- running values by rows and by time
SELECT SUM(v) OVER (PARTITION BY b ORDER BY ts) AS x, ROW_NUMBER() OVER (PARTITION BY b ORDER BY ts) AS y FROM S
-- 4

-- a time limit above LAG
SELECT a FROM (SELECT a, ts, LAG(ts) OVER (PARTITION BY a ORDER BY ts) AS before FROM S) q WHERE ts < before + INTERVAL 1 MINUTE
-- 60*rate_S

-- LAG without a time limit
SELECT a FROM (SELECT a, ts, LAG(ts) OVER (PARTITION BY a ORDER BY ts) AS before FROM S) q
-- unbounded

-- a limit of what LAG gives, which is no time
SELECT a FROM (SELECT a, LAG(v) OVER (PARTITION BY b ORDER BY v, ts) AS before FROM S) q WHERE before <= 2
-- unbounded

-- a time limit above another function
SELECT a FROM (SELECT a, ts, LAG(ts) OVER (PARTITION BY a ORDER BY ts) AS before, SUM(v) OVER (PARTITION BY a ORDER BY ts ROWS UNBOUNDED PRECEDING) AS s FROM S) q WHERE ts < before + INTERVAL 1 MINUTE
-- unbounded

-- MAX of a running sum, which only grows
SELECT MAX(x) FROM (SELECT SUM(v) OVER (PARTITION BY b ORDER BY ts ROWS UNBOUNDED PRECEDING) AS x FROM S) q
-- 5

-- MAX of sums in another order, which takes rows back
SELECT MAX(x) FROM (SELECT SUM(v) OVER (PARTITION BY b ORDER BY a ROWS UNBOUNDED PRECEDING) AS x FROM S) q
-- unbounded

-- ranks of ties by what is read of them
SELECT b FROM (SELECT b, RANK() OVER (PARTITION BY b ORDER BY v) AS r FROM S) q WHERE r <= 2
-- 8

-- ranks of ties that are all read
SELECT a FROM (SELECT a, RANK() OVER (PARTITION BY b ORDER BY v) AS r FROM S) q WHERE r <= 2
-- unbounded

-- ranks of ties that a partition does not tell apart
SELECT a FROM (SELECT a, RANK() OVER (PARTITION BY a % 2 ORDER BY v) AS r FROM S) q WHERE r <= 2
-- unbounded

-- ranks of ties that differ in nothing that is read
SELECT r FROM (SELECT RANK() OVER (PARTITION BY a % 2 ORDER BY v) AS r FROM S) q WHERE r <= 2
-- 8

-- ranks of groups, which have no ties by their keys
SELECT n FROM (SELECT n, RANK() OVER (PARTITION BY b ORDER BY w DESC) AS r FROM (SELECT ts AS w, b, COUNT(*) AS n FROM S GROUP BY ts, b) p) q WHERE r <= 1
-- 4

-- ranks of groups, with ties by one of their keys
SELECT n FROM (SELECT n, RANK() OVER (ORDER BY w DESC) AS r FROM (SELECT ts AS w, b, COUNT(*) AS n FROM S GROUP BY ts, b) p) q WHERE r <= 3
-- 12

-- the first row of each partition, of which there is one
SELECT x.v, y.n FROM (SELECT b, v FROM (SELECT b, v, ROW_NUMBER() OVER (PARTITION BY b ORDER BY ts DESC) AS r FROM S) q WHERE r = 1) x JOIN (SELECT b, COUNT(*) AS n FROM T GROUP BY b) y ON x.b = y.b
-- 12

-- the best of windows that look back at windows before
SELECT w, MAX(more) FROM (SELECT w, n - LAG(n) OVER (ORDER BY w, b) AS more FROM (SELECT date_trunc('hour', ts) AS w, b, COUNT(*) AS n FROM S GROUP BY date_trunc('hour', ts), b) p) q GROUP BY w
-- 14

-- the best of windows that look at windows after
SELECT w, MAX(more) FROM (SELECT w, n - LEAD(n) OVER (ORDER BY w, b) AS more FROM (SELECT date_trunc('hour', ts) AS w, b, COUNT(*) AS n FROM S GROUP BY date_trunc('hour', ts), b) p) q GROUP BY w
-- unbounded

-- the best of windows by an order that windows before may come in
SELECT w, MAX(more) FROM (SELECT w, SUM(n) OVER (ORDER BY w DESC ROWS UNBOUNDED PRECEDING) AS more FROM (SELECT date_trunc('hour', ts) AS w, COUNT(*) AS n FROM S GROUP BY date_trunc('hour', ts)) p) q GROUP BY w
-- unbounded

-- months of weeks, which are near
SELECT date_trunc('month', w), MAX(n) FROM (SELECT date_trunc('week', ts) AS w, COUNT(*) AS n FROM S GROUP BY date_trunc('week', ts)) p GROUP BY date_trunc('month', w)
-- 4

-- weeks of days, and hours of dates, which are those of times
SELECT date_trunc('week', w), MAX(n) FROM (SELECT date_trunc('hour', d) AS w, COUNT(*) AS n FROM (SELECT CAST(ts AS DATE) AS d FROM S) r GROUP BY date_trunc('hour', d)) p GROUP BY date_trunc('week', w)
-- 3

-- groups by their window, with all functions of one
SELECT w, MAX(r) FROM (SELECT w, RANK() OVER (PARTITION BY w ORDER BY n) AS r FROM (SELECT date_trunc('hour', ts) AS w, b, COUNT(*) AS n FROM S GROUP BY date_trunc('hour', ts), b) p) q GROUP BY w
-- 13

-- the first rows of each partition
SELECT a FROM (SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY v) AS r FROM S) q WHERE r <= 3
-- 12

-- Joins, set operations, and what is above them.
--

-- sessions that end together
SELECT l.a, l.n FROM (SELECT S.a, session_window.start AS z, session_window.end AS y, COUNT(*) AS n FROM S GROUP BY S.a, session_window(S.ts, '2 seconds')) AS l JOIN (SELECT T.a, session_window.start AS z, session_window.end AS y, COUNT(*) AS n FROM T GROUP BY T.a, session_window(T.ts, '2 seconds')) AS r ON l.y = r.y
-- 4*rate_S + 4*rate_T

-- a chain keeps the rows of each stream
SELECT S.a, T.v, U.v FROM S JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 HOUR JOIN U ON U.a = T.a AND U.ts BETWEEN T.ts AND T.ts + INTERVAL 1 DAY
-- 90000*rate_S + 86400*rate_T

-- a chain of outer joins
SELECT S.a, T.v, U.v FROM S LEFT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 HOUR LEFT JOIN U ON U.a = T.a AND U.ts BETWEEN T.ts AND T.ts + INTERVAL 1 DAY
-- 90000*rate_S + 90000*rate_T + 90000*rate_U

-- a chain without a window
SELECT S.a, T.v, U.v FROM S LEFT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 HOUR LEFT JOIN U ON U.a = T.a
-- unbounded

-- AS OF a declared key is one row
SELECT C.y, COUNT(*) FROM S JOIN R FOR SYSTEM_TIME AS OF S.ts AS C ON S.a = C.a GROUP BY window(S.ts, '1 minute'), C.y
-- 60*rate_S + 100

-- AS OF without the key
SELECT C.y, COUNT(*) FROM S JOIN R FOR SYSTEM_TIME AS OF S.ts AS C ON S.v > C.a GROUP BY C.y
-- unbounded

-- whether a version has a partner
SELECT S.v FROM S WHERE EXISTS (SELECT 1 FROM R FOR SYSTEM_TIME AS OF S.ts AS C WHERE C.a = S.a)
-- 100

-- whether a version has none
SELECT S.v FROM S WHERE NOT EXISTS (SELECT 1 FROM R FOR SYSTEM_TIME AS OF S.ts AS C WHERE C.a > S.v)
-- 100

-- whether a version as of another time has a partner
SELECT S.v FROM S WHERE EXISTS (SELECT 1 FROM R FOR SYSTEM_TIME AS OF S.v AS C WHERE C.a = S.a)
-- no rule: a version as of another time than that at which the rows beside it come, or the end of their window

-- different values of windows that are not shown come again
SELECT DISTINCT n FROM (SELECT window(ts, '1 minute').start AS w, SUM(v) AS n FROM S GROUP BY window(ts, '1 minute')) q
-- unbounded

-- different values of windows that are shown
SELECT DISTINCT w, n FROM (SELECT window(ts, '1 minute').start AS w, SUM(v) AS n FROM S GROUP BY window(ts, '1 minute')) q
-- 2

-- values of windows that are not shown, which both sides may have
SELECT n FROM (SELECT window(ts, '1 minute').start AS w, SUM(v) AS n FROM S GROUP BY window(ts, '1 minute')) q INTERSECT SELECT v FROM T
-- unbounded

-- the greatest of windows that are not shown
SELECT MAX(n) FROM (SELECT window(ts, '1 minute').start AS w, SUM(v) AS n FROM S GROUP BY window(ts, '1 minute')) q
-- 3

-- the greatest of groups whose window the query below does not show
SELECT MAX(n), MIN(n) FROM (SELECT SUM(v) AS n FROM S GROUP BY window(ts, '1 minute') HAVING COUNT(*) > 1) q WHERE n > 2
-- 4

-- the greatest of groups without a window
SELECT MAX(n) FROM (SELECT MIN(v) AS n FROM S GROUP BY a) q
-- unbounded

-- a condition over rows of two streams that compares no columns
SELECT S.a, T.b FROM S JOIN T ON S.ts > T.ts AND S.v * T.b > 3 WHERE S.b = 1
-- 4

-- groups below such a condition
SELECT S.b, MAX(T.b) FROM S JOIN T ON S.ts > T.ts AND S.v * T.b > 3 GROUP BY S.b
-- 8

-- such a condition of what is not bounded
SELECT S.a, T.b FROM S JOIN T ON S.ts > T.ts AND S.v * T.v > 3
-- unbounded

-- rows whose existence is asked by an inequality
SELECT S.a FROM S WHERE S.a NOT IN (SELECT T.b FROM T WHERE T.ts <= S.ts)
-- 5

-- values of a list that the other side equals
SELECT S.a FROM S LEFT JOIN T ON S.a = T.a WHERE S.a IN (1, 30) AND T.a IS NULL
-- 4

-- values of lists that have none in common
SELECT S.a FROM S JOIN (SELECT a, COUNT(*) AS n FROM T GROUP BY a) t ON S.a = t.a WHERE S.a IN (1, 30) AND t.a IN (2, 40)
-- 2

-- values that a number of rows may equal
SELECT S.b FROM S WHERE S.v <= 3 AND S.v <> (SELECT COUNT(*) FROM T)
-- 22

-- values that are compared with limited ones in several ways
SELECT S.b FROM S LEFT JOIN (SELECT b, MAX(b) AS m FROM T GROUP BY b) w ON S.b = w.b AND S.v + 1 <> w.m AND S.v < w.b + 7
-- 39

-- values that are compared with what has no limit
SELECT S.b FROM S JOIN (SELECT b, MAX(v) AS m FROM T GROUP BY b) w ON S.b = w.b AND S.v <> w.m
-- unbounded

-- what no row can block is not remembered
SELECT S.a FROM S WHERE NOT EXISTS (SELECT 1 FROM T WHERE T.b = S.b AND T.b > 5)
-- 0

-- Statements that mean the same.
--

-- a subquery that renames
SELECT b, COUNT(*) FROM S GROUP BY b;
SELECT q.x, COUNT(*) FROM (SELECT b AS x, v AS w FROM S) q GROUP BY q.x;
SELECT x, COUNT(*) FROM (SELECT y AS x FROM (SELECT b AS y FROM S) p) q GROUP BY x;
WITH q AS (SELECT b AS x FROM S) SELECT x, COUNT(*) FROM q GROUP BY x;
SELECT x, n FROM (SELECT b, COUNT(*) FROM S GROUP BY b) AS q(x, n);
SELECT b, COUNT(*) FROM (SELECT * FROM S) S GROUP BY b;
SELECT b, COUNT(1) FROM S GROUP BY b;
SELECT b, COUNT(*) FROM S GROUP BY 1;
SELECT b, COUNT(b IS NULL) FROM S GROUP BY b;
SELECT b, SUM(1) FROM S GROUP BY b
-- 4

-- a subquery that renames, below LAG
SELECT x FROM (SELECT LAG(v) OVER (PARTITION BY b ORDER BY ts) AS x FROM S) q;
SELECT x FROM (SELECT LAG(w) OVER (PARTITION BY c ORDER BY t) AS x FROM (SELECT b AS c, v AS w, ts AS t FROM S) p) q;
WITH p AS (SELECT b AS c, v AS w, ts AS t FROM S), q AS (SELECT LAG(w) OVER (PARTITION BY c ORDER BY t) AS x FROM p) SELECT x FROM q
-- 4

-- a subquery that renames, in a join
SELECT S.a, T.v FROM S JOIN T ON S.a = T.a AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT p.x, q.y FROM (SELECT a AS x, ts AS t FROM S) p JOIN (SELECT a AS x, v AS y, ts AS t FROM T) q ON p.x = q.x AND q.t BETWEEN p.t AND p.t + INTERVAL 1 MINUTE
-- 60*rate_S

-- sides of an outer join
SELECT S.a, T.v FROM S LEFT JOIN T ON S.a = T.a AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT p.x, q.y FROM (SELECT a AS x, ts AS t FROM S) p LEFT JOIN (SELECT a AS x, v AS y, ts AS t FROM T) q ON p.x = q.x AND q.t BETWEEN p.t AND p.t + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM T RIGHT JOIN S ON S.a = T.a AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM T RIGHT JOIN S ON T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE AND T.a = S.a
-- 60*rate_S

-- BETWEEN in an outer join
SELECT S.a, T.v FROM S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM S LEFT JOIN (SELECT * FROM T WHERE TRUE) T ON S.b = T.b AND T.ts >= S.ts AND T.ts <= S.ts + INTERVAL 1 MINUTE
-- 60*rate_S

-- complementary branches
SELECT b, COUNT(*) FROM S GROUP BY b;
SELECT b, COUNT(*) FROM (SELECT * FROM S WHERE a > 0 UNION ALL SELECT * FROM S WHERE a <= 0 OR a IS NULL) q GROUP BY b
-- 4

-- branches of a union beside OR
SELECT b, COUNT(*) FROM S WHERE a > 0 OR a < -5 GROUP BY b;
SELECT b, COUNT(*) FROM (SELECT * FROM S WHERE a > 0 UNION ALL SELECT * FROM S WHERE a < -5) q GROUP BY b
-- 4

-- branches beside OR, below LAG
SELECT x FROM (SELECT LAG(v) OVER (PARTITION BY b ORDER BY ts) AS x FROM S WHERE a > 0 OR a < -5) q;
SELECT x FROM (SELECT LAG(v) OVER (PARTITION BY b ORDER BY ts) AS x FROM (SELECT * FROM S WHERE a > 0 UNION ALL SELECT * FROM S WHERE a < -5) p) q
-- 4

-- branches beside OR, in an anti join
SELECT T.b FROM T WHERE NOT EXISTS (SELECT 1 FROM S WHERE S.b = T.b AND (S.a > 0 OR S.a < -5));
SELECT T.b FROM T WHERE NOT EXISTS (SELECT 1 FROM (SELECT * FROM S WHERE a > 0 UNION ALL SELECT * FROM S WHERE a < -5) S WHERE S.b = T.b)
-- 6

-- branches beside OR, in an outer join
SELECT S.a, T.v FROM (SELECT * FROM S WHERE a > 0 OR a < -5) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE a > 0 UNION ALL SELECT * FROM S WHERE a < -5) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE
-- 60*rate_S

-- branches beside OR, in windows
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE a > 0 OR a < -5 GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM (SELECT * FROM S WHERE a > 0 UNION ALL SELECT * FROM S WHERE a < -5) q GROUP BY window(ts, '1 minute'), a
-- 60*rate_S

-- branches beside OR, each row once
SELECT DISTINCT b, k FROM S WHERE a > 0 OR a < -5;
SELECT b, k FROM S WHERE a > 0 UNION SELECT b, k FROM S WHERE a < -5;
SELECT DISTINCT b, k FROM (SELECT * FROM S WHERE a > 0 UNION ALL SELECT * FROM S WHERE a < -5) q
-- 12

-- ON beside WHERE
SELECT S.a, T.v FROM S JOIN T ON S.a = T.a AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM S, T WHERE S.a = T.a AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM S CROSS JOIN T WHERE T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE AND T.a = S.a;
SELECT S.a, T.v FROM T JOIN S ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM T JOIN S ON T.a = S.a WHERE T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT q.a, q.v FROM (SELECT S.a, S.ts AS s, T.ts AS t, T.v FROM S JOIN T USING (a)) q WHERE q.t BETWEEN q.s AND q.s + INTERVAL 1 MINUTE
-- 60*rate_S

-- ON beside WHERE, of a view
SELECT q.n, T.v FROM (SELECT b, COUNT(*) AS n FROM S GROUP BY b) q JOIN T ON T.b = q.b AND T.v BETWEEN 0 AND 3;
SELECT q.n, T.v FROM (SELECT b, COUNT(*) AS n FROM S GROUP BY b) q, T WHERE T.b = q.b AND T.v BETWEEN 0 AND 3;
SELECT q.n, T.v FROM T JOIN (SELECT b, COUNT(*) AS n FROM S GROUP BY b) q ON T.b = q.b AND T.v BETWEEN 0 AND 3;
SELECT q.n, T.v FROM (SELECT b, COUNT(*) AS n FROM S GROUP BY b) q JOIN (SELECT * FROM T WHERE v BETWEEN 0 AND 3) T ON q.b = T.b;
SELECT q.n, T.v FROM (SELECT b, COUNT(*) AS n FROM S GROUP BY b) q JOIN T USING (b) WHERE T.v BETWEEN 0 AND 3
-- 18

-- USING of what is not bounded
SELECT S.a, T.v FROM S LEFT JOIN T ON S.a = T.a;
SELECT a, T.v FROM S LEFT JOIN T USING (a)
-- unbounded

-- USING in an outer join
SELECT S.b, T.k FROM S LEFT JOIN T ON S.b = T.b;
SELECT b, T.k FROM S LEFT JOIN T USING (b);
SELECT b, T.k FROM T RIGHT JOIN S USING (b)
-- 12

-- USING in a full join
SELECT COALESCE(S.b, T.b), T.k FROM S FULL JOIN T ON S.b = T.b;
SELECT b, T.k FROM S FULL JOIN T USING (b)
-- 12

-- HAVING beside a filter
SELECT b, COUNT(*) AS n FROM S GROUP BY b HAVING COUNT(*) > 3;
SELECT * FROM (SELECT b, COUNT(*) AS n FROM S GROUP BY b) q WHERE n > 3;
WITH q AS (SELECT b, COUNT(*) AS n FROM S GROUP BY b) SELECT b, n FROM q WHERE NOT n <= 3
-- 4

-- HAVING of a key
SELECT a, COUNT(*) AS n FROM S GROUP BY a HAVING a BETWEEN 0 AND 4;
SELECT * FROM (SELECT a, COUNT(*) AS n FROM S GROUP BY a) q WHERE a BETWEEN 0 AND 4;
SELECT a, COUNT(*) AS n FROM S WHERE a BETWEEN 0 AND 4 GROUP BY a;
SELECT a, COUNT(*) AS n FROM (SELECT * FROM S WHERE a BETWEEN 0 AND 4) S GROUP BY a
-- 5

-- EXISTS beside IN
SELECT S.v FROM S WHERE EXISTS (SELECT 1 FROM T WHERE T.b = S.b);
SELECT S.v FROM S WHERE S.b IN (SELECT T.b FROM T);
SELECT S.v FROM S LEFT SEMI JOIN T ON T.b = S.b;
SELECT S.v FROM S WHERE EXISTS (SELECT * FROM T WHERE S.b = T.b)
-- unbounded

-- EXISTS beside IN, in a window
SELECT S.v FROM S WHERE EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE);
SELECT S.v FROM S WHERE S.a IN (SELECT T.a FROM T WHERE T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE);
SELECT S.v FROM S LEFT SEMI JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE
-- 60*rate_S

-- NOT EXISTS beside an anti join
SELECT S.v FROM S WHERE NOT EXISTS (SELECT 1 FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE);
SELECT S.v FROM S LEFT ANTI JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE
-- 60*rate_S

-- DISTINCT beside GROUP BY
SELECT DISTINCT b, k FROM S;
SELECT b, k FROM S GROUP BY b, k;
SELECT b, k FROM S UNION SELECT b, k FROM S;
SELECT DISTINCT * FROM (SELECT DISTINCT b, k FROM S) q;
SELECT DISTINCT k, b FROM S
-- 12

-- DISTINCT beside GROUP BY, of a view
SELECT DISTINCT n FROM (SELECT b, COUNT(*) % 2 AS n FROM S GROUP BY b) q;
SELECT n FROM (SELECT b, COUNT(*) % 2 AS n FROM S GROUP BY b) q GROUP BY n
-- 7

-- the first rows
SELECT a FROM (SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY v) AS r FROM S) q WHERE r <= 2;
SELECT a FROM S QUALIFY ROW_NUMBER() OVER (PARTITION BY b ORDER BY v) <= 2;
SELECT a FROM (SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY v) AS r FROM S) q WHERE r < 3;
WITH q AS (SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY v) AS r FROM S) SELECT a FROM q WHERE r IN (1, 2);
SELECT a FROM (SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY v) AS r FROM S) q WHERE NOT r > 2;
SELECT a FROM (SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY v) AS r FROM S) q WHERE r = 1 OR r = 2;
SELECT a FROM (SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY v) AS r FROM S) q WHERE r BETWEEN 1 AND 2;
SELECT a FROM (SELECT a, ROW_NUMBER() OVER w AS r FROM S WINDOW w AS (PARTITION BY b ORDER BY v)) q WHERE r <= 2;
SELECT a FROM (SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY v) - 1 AS r FROM S) q WHERE r <= 1
-- 8

-- COUNT of some rows
SELECT b, COUNT(*) FILTER (WHERE v > 3) FROM S GROUP BY b;
SELECT b, SUM(CASE WHEN v > 3 THEN 1 ELSE 0 END) FROM S GROUP BY b;
SELECT b, COUNT(CASE WHEN v > 3 THEN 1 END) FROM S GROUP BY b;
SELECT b, COUNT_IF(v > 3) FROM S GROUP BY b;
SELECT b, SUM(IF(v > 3, 1, 0)) FROM S GROUP BY b
-- 4

-- COUNT of different values
SELECT COUNT(DISTINCT b) FROM S;
SELECT COUNT(b) FROM (SELECT DISTINCT b FROM S) q;
SELECT COUNT(b) FROM (SELECT b FROM S GROUP BY b) q
-- 5

-- sums over a join
SELECT S.b, SUM(S.v + T.v) FROM S JOIN T ON S.b = T.b GROUP BY S.b;
SELECT S.b, SUM(S.v) + SUM(T.v) FROM S JOIN T ON S.b = T.b GROUP BY S.b;
SELECT b, SUM(x) FROM (SELECT S.b, S.v + T.v AS x FROM S JOIN T ON S.b = T.b) q GROUP BY b;
SELECT T.b, SUM(S.v + T.v) FROM T, S WHERE S.b = T.b GROUP BY T.b
-- 9

-- sides of INTERSECT
SELECT b, k FROM S INTERSECT SELECT b, k FROM T;
SELECT b, k FROM T INTERSECT SELECT b, k FROM S
-- 12

-- EXCEPT beside MINUS
SELECT b, k FROM S EXCEPT SELECT b, k FROM T;
SELECT b, k FROM S MINUS SELECT b, k FROM T
-- 12

-- WITH beside subqueries
SELECT q.b, q.n, p.n FROM (SELECT b, COUNT(*) AS n FROM S GROUP BY b) q JOIN (SELECT b, COUNT(*) AS n FROM T GROUP BY b) p ON p.b = q.b;
WITH q AS (SELECT b, COUNT(*) AS n FROM S GROUP BY b), p AS (SELECT b, COUNT(*) AS n FROM T GROUP BY b) SELECT q.b, q.n, p.n FROM q JOIN p ON p.b = q.b;
WITH q AS (SELECT b, COUNT(*) AS n FROM S GROUP BY b), p AS (SELECT b, COUNT(*) AS n FROM T GROUP BY b) SELECT q.b, q.n, p.n FROM q, p WHERE p.b = q.b;
WITH q AS (SELECT b, COUNT(*) AS n FROM S GROUP BY b), p AS (SELECT b, COUNT(*) AS n FROM T GROUP BY b) SELECT q.b, q.n, p.n FROM p JOIN q ON p.b = q.b;
WITH q AS (SELECT b, COUNT(*) AS n FROM S GROUP BY b), p AS (SELECT b, COUNT(*) AS n FROM T GROUP BY b) SELECT b, q.n, p.n FROM p JOIN q USING (b)
-- 12

-- <> beside < or >
SELECT S.b, T.b FROM S JOIN T ON S.b <> T.b;
SELECT S.b, T.b FROM S JOIN T ON S.b < T.b OR S.b > T.b;
SELECT S.b, T.b FROM S JOIN T ON NOT (S.b = T.b)
-- 6

-- windows of time
SELECT window(ts, '1 minute').start AS w, a, COUNT(*) FROM S GROUP BY window(ts, '1 minute'), a;
SELECT w, a, COUNT(*) FROM (SELECT window(ts, '1 minute').start AS w, a FROM S) q GROUP BY w, a;
SELECT date_trunc('minute', ts) AS w, a, COUNT(*) FROM S GROUP BY date_trunc('minute', ts), a;
SELECT w, a, COUNT(*) FROM (SELECT date_trunc('minute', ts) AS w, a FROM S) q GROUP BY w, a;
SELECT a, window.end, COUNT(*) FROM S GROUP BY a, window(ts, '60 seconds');
SELECT window_start, a, COUNT(*) FROM TUMBLE(TABLE S, DESCRIPTOR(ts), INTERVAL '1' MINUTE) GROUP BY window_start, a
-- 60*rate_S

-- a relation that is joined
SELECT R.y, COUNT(*) FROM S JOIN R ON S.b = R.a GROUP BY R.y;
SELECT R.y, COUNT(*) FROM R JOIN S ON S.b = R.a GROUP BY R.y;
SELECT R.y, COUNT(*) FROM R, S WHERE S.b = R.a GROUP BY R.y;
SELECT R.y, COUNT(1) FROM S JOIN R ON R.a = S.b AND 1 = 1 GROUP BY R.y;
SELECT y, COUNT(*) FROM (SELECT R.y FROM S JOIN R ON S.b = R.a) q GROUP BY y
-- 106

-- averages
SELECT b, AVG(v) FROM S GROUP BY b;
SELECT b, SUM(v) / COUNT(v) FROM S GROUP BY b;
SELECT b, MEAN(v) FROM S GROUP BY b
-- 4

-- the greatest value over a join
SELECT S.b, MAX(T.v) FROM S JOIN T ON S.b = T.b GROUP BY S.b;
SELECT S.b, MAX(T.v) FROM T JOIN S ON S.b = T.b GROUP BY S.b;
SELECT b, MAX(v) FROM (SELECT S.b, T.v FROM S JOIN T ON S.b = T.b) q GROUP BY b;
SELECT T.b, MAX(T.v) FROM T JOIN S ON S.b = T.b GROUP BY T.b;
SELECT S.b, -MIN(-T.v) FROM S JOIN T ON S.b = T.b GROUP BY S.b
-- 15

-- a value of a subquery, of what is not bounded
SELECT a FROM S WHERE v > (SELECT AVG(v) FROM T);
SELECT a FROM S, (SELECT AVG(v) AS m FROM T) q WHERE v > q.m;
WITH q AS (SELECT AVG(v) AS m FROM T) SELECT a FROM S JOIN q ON v > m;
SELECT a FROM S WHERE (SELECT AVG(v) FROM T) < v
-- unbounded

-- a value of a subquery
SELECT b FROM S WHERE b > (SELECT AVG(v) FROM T);
SELECT b FROM S, (SELECT AVG(v) AS m FROM T) q WHERE b > q.m;
WITH q AS (SELECT AVG(v) AS m FROM T) SELECT b FROM S JOIN q ON b > m
-- 5

-- rows without a partner
SELECT S.b FROM S WHERE NOT EXISTS (SELECT 1 FROM T WHERE T.b = S.b);
SELECT S.b FROM S LEFT ANTI JOIN T ON T.b = S.b;
SELECT S.b FROM S LEFT JOIN T ON T.b = S.b WHERE T.ts IS NULL
-- 6

-- running sums
SELECT b, SUM(v) OVER (PARTITION BY b ORDER BY ts ROWS UNBOUNDED PRECEDING) FROM S;
SELECT b, SUM(v) OVER (PARTITION BY b ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM S;
SELECT b, SUM(v) OVER (PARTITION BY b ORDER BY ts) FROM S
-- 4

-- HAVING of a key is WHERE
SELECT a, COUNT(*) FROM S GROUP BY a HAVING a BETWEEN 0 AND 2;
SELECT a, COUNT(*) FROM S WHERE a BETWEEN 0 AND 2 GROUP BY a
-- 3

-- a filter above a subquery
SELECT * FROM (SELECT b, COUNT(*) AS n FROM S GROUP BY b) q WHERE b = 1;
SELECT b, COUNT(*) AS n FROM S WHERE b = 1 GROUP BY b
-- 1

-- sums of sums
SELECT SUM(n) FROM (SELECT a, SUM(v) AS n FROM S GROUP BY a) q;
SELECT SUM(v) FROM S
-- 1

-- an outer join whose padded rows are dropped
SELECT S.b FROM S LEFT JOIN T ON T.b = S.b AND T.a = 1 WHERE T.a > 0;
SELECT S.b FROM S JOIN T ON T.b = S.b AND T.a = 1 WHERE T.a > 0
-- 6

-- NOT IN of what is never NULL
SELECT S.b FROM S WHERE S.b IS NOT NULL AND S.b NOT IN (SELECT T.b FROM T WHERE T.b > 0);
SELECT S.b FROM S WHERE S.b IS NOT NULL AND NOT EXISTS (SELECT 1 FROM T WHERE T.b > 0 AND T.b = S.b)
-- 4

-- Conditions that mean the same, below groups.
--

-- contradictions, below groups
SELECT a, b, SUM(v) FROM S WHERE FALSE GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE a > 3 AND a < 2 GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE b > 1 AND b < 1 GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE k = 'x' AND k = 'y' GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE a IS NULL AND a > 1 GROUP BY a, b
-- 0

-- inequalities, below groups
SELECT a, b, SUM(v) FROM S WHERE a > 3 GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE NOT (NOT (a > 3)) GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE NOT (a <= 3) GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE a > 3 AND 1 = 1 GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE 1 = 1 AND a > 3 GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE a > 3 OR FALSE GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE 3 < a GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE a - 3 > 0 GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE CASE WHEN a > 3 THEN 1 END IS NOT NULL GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE IF(a > 3, TRUE, FALSE) GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE COALESCE(a > 3, FALSE) GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE (a > 3) IS TRUE GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE a > 3 AND a > 1 GROUP BY a, b
-- unbounded

-- lists, below groups
SELECT a, b, SUM(v) FROM S WHERE b IN (0, 1) GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE b = 0 OR b = 1 GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE b BETWEEN 0 AND 1 GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE b >= 0 AND b <= 1 GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE b IN (1, 0, 1) GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE NOT (b NOT IN (0, 1)) GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE NOT (b < 0 OR b > 1) GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE b > -1 AND 2 > b GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE CASE WHEN b = 0 THEN 'x' WHEN b = 1 THEN 'y' END IS NOT NULL GROUP BY a, b
-- unbounded

-- texts, below groups
SELECT a, b, SUM(v) FROM S WHERE k IN ('x') GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE k = 'x' GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE 'x' = k GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE NOT (k <> 'x') GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE k = 'x' AND k IS NOT NULL GROUP BY a, b
-- unbounded

-- conjunctions, below groups
SELECT a, b, SUM(v) FROM S WHERE a = 1 AND b = 2 GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE b = 2 AND a = 1 GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE NOT (a <> 1 OR b <> 2) GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE a = 1 AND b > 1 AND b <= 2 GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE b = 2 AND (a = 1 OR a = 1 AND b = 0) GROUP BY a, b
-- 1

-- ranges, below groups
SELECT a, b, SUM(v) FROM S WHERE a BETWEEN 0 AND 5 GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE a >= 0 AND a <= 5 GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE a IN (0, 1, 2, 3, 4, 5) GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE NOT (a < 0 OR a > 5) GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE a BETWEEN 0 AND 9 AND a BETWEEN -4 AND 5 GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE a + 1 BETWEEN 1 AND 6 GROUP BY a, b
-- 24

-- other values, below groups
SELECT a, b, SUM(v) FROM S WHERE b <> 1 GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE b < 1 OR b > 1 GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE NOT (b = 1) GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE b NOT IN (1) GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE b IN (0, 2) GROUP BY a, b;
SELECT a, b, SUM(v) FROM S WHERE 1 <> b GROUP BY a, b
-- unbounded

-- Conditions that mean the same, below windows.
--

-- contradictions, below windows
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE FALSE GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE a > 3 AND a < 2 GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE b > 1 AND b < 1 GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE k = 'x' AND k = 'y' GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE a IS NULL AND a > 1 GROUP BY window(ts, '1 minute'), a
-- 0

-- inequalities, below windows
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE a > 3 GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE NOT (NOT (a > 3)) GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE NOT (a <= 3) GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE a > 3 AND 1 = 1 GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE 1 = 1 AND a > 3 GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE a > 3 OR FALSE GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE 3 < a GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE a - 3 > 0 GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE CASE WHEN a > 3 THEN 1 END IS NOT NULL GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE IF(a > 3, TRUE, FALSE) GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE COALESCE(a > 3, FALSE) GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE (a > 3) IS TRUE GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE a > 3 AND a > 1 GROUP BY window(ts, '1 minute'), a
-- 60*rate_S

-- lists, below windows
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE b IN (0, 1) GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE b = 0 OR b = 1 GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE b BETWEEN 0 AND 1 GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE b >= 0 AND b <= 1 GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE b IN (1, 0, 1) GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE NOT (b NOT IN (0, 1)) GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE NOT (b < 0 OR b > 1) GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE b > -1 AND 2 > b GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE CASE WHEN b = 0 THEN 'x' WHEN b = 1 THEN 'y' END IS NOT NULL GROUP BY window(ts, '1 minute'), a
-- 60*rate_S

-- texts, below windows
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE k IN ('x') GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE k = 'x' GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE 'x' = k GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE NOT (k <> 'x') GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE k = 'x' AND k IS NOT NULL GROUP BY window(ts, '1 minute'), a
-- 60*rate_S

-- conjunctions, below windows
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE a = 1 AND b = 2 GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE b = 2 AND a = 1 GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE NOT (a <> 1 OR b <> 2) GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE a = 1 AND b > 1 AND b <= 2 GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE b = 2 AND (a = 1 OR a = 1 AND b = 0) GROUP BY window(ts, '1 minute'), a
-- 1

-- ranges, below windows
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE a BETWEEN 0 AND 5 GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE a >= 0 AND a <= 5 GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE a IN (0, 1, 2, 3, 4, 5) GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE NOT (a < 0 OR a > 5) GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE a BETWEEN 0 AND 9 AND a BETWEEN -4 AND 5 GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE a + 1 BETWEEN 1 AND 6 GROUP BY window(ts, '1 minute'), a
-- 6

-- other values, below windows
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE b <> 1 GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE b < 1 OR b > 1 GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE NOT (b = 1) GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE b NOT IN (1) GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE b IN (0, 2) GROUP BY window(ts, '1 minute'), a;
SELECT window(ts, '1 minute').start, a, COUNT(*) FROM S WHERE 1 <> b GROUP BY window(ts, '1 minute'), a
-- 60*rate_S

-- Conditions that mean the same, below outer join.
--

-- contradictions, below outer join
SELECT S.a, T.v FROM (SELECT * FROM S WHERE FALSE) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE a > 3 AND a < 2) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE b > 1 AND b < 1) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE k = 'x' AND k = 'y') S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE a IS NULL AND a > 1) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE
-- 0

-- inequalities, below outer join
SELECT S.a, T.v FROM (SELECT * FROM S WHERE a > 3) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE NOT (NOT (a > 3))) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE NOT (a <= 3)) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE a > 3 AND 1 = 1) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE 1 = 1 AND a > 3) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE a > 3 OR FALSE) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE 3 < a) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE a - 3 > 0) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE CASE WHEN a > 3 THEN 1 END IS NOT NULL) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE IF(a > 3, TRUE, FALSE)) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE COALESCE(a > 3, FALSE)) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE (a > 3) IS TRUE) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE a > 3 AND a > 1) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE
-- 60*rate_S

-- lists, below outer join
SELECT S.a, T.v FROM (SELECT * FROM S WHERE b IN (0, 1)) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE b = 0 OR b = 1) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE b BETWEEN 0 AND 1) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE b >= 0 AND b <= 1) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE b IN (1, 0, 1)) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE NOT (b NOT IN (0, 1))) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE NOT (b < 0 OR b > 1)) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE b > -1 AND 2 > b) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE CASE WHEN b = 0 THEN 'x' WHEN b = 1 THEN 'y' END IS NOT NULL) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE
-- 60*rate_S

-- texts, below outer join
SELECT S.a, T.v FROM (SELECT * FROM S WHERE k IN ('x')) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE k = 'x') S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE 'x' = k) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE NOT (k <> 'x')) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE k = 'x' AND k IS NOT NULL) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE
-- 60*rate_S

-- conjunctions, below outer join
SELECT S.a, T.v FROM (SELECT * FROM S WHERE a = 1 AND b = 2) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE b = 2 AND a = 1) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE NOT (a <> 1 OR b <> 2)) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE a = 1 AND b > 1 AND b <= 2) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE b = 2 AND (a = 1 OR a = 1 AND b = 0)) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE
-- min(60000000, 60*rate_S)

-- ranges, below outer join
SELECT S.a, T.v FROM (SELECT * FROM S WHERE a BETWEEN 0 AND 5) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE a >= 0 AND a <= 5) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE a IN (0, 1, 2, 3, 4, 5)) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE NOT (a < 0 OR a > 5)) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE a BETWEEN 0 AND 9 AND a BETWEEN -4 AND 5) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE a + 1 BETWEEN 1 AND 6) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE
-- min(1080000000, 60*rate_S)

-- other values, below outer join
SELECT S.a, T.v FROM (SELECT * FROM S WHERE b <> 1) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE b < 1 OR b > 1) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE NOT (b = 1)) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE b NOT IN (1)) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE b IN (0, 2)) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE;
SELECT S.a, T.v FROM (SELECT * FROM S WHERE 1 <> b) S LEFT JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 MINUTE
-- 60*rate_S

-- a distinct value that depends on rows of two streams
SELECT SUM(DISTINCT q1.a) FILTER (WHERE q2.v > 1) AS c1 FROM T AS q1 JOIN T AS q2 ON q1.v = q2.b

-- a distinct product of columns of two streams
SELECT COUNT(DISTINCT q1.a * q2.b) AS c1 FROM S AS q1 JOIN T AS q2 ON q1.v = q2.b

-- groups by a product of columns of two streams
SELECT q1.a * q2.b AS c1, COUNT(*) AS c2 FROM S AS q1 JOIN T AS q2 ON q1.v = q2.b GROUP BY q1.a * q2.b

-- a sum by a product of columns of two streams
SELECT SUM(q1.v) AS c1 FROM S AS q1 JOIN T AS q2 ON q1.v = q2.b GROUP BY q1.a * q2.b

-- a set operation on a product of columns of two streams
SELECT q1.a * q2.b AS c1 FROM S AS q1 JOIN T AS q2 ON q1.v = q2.b EXCEPT SELECT q3.v AS c1 FROM S AS q3

-- a distinct time that depends on rows of two streams
SELECT q1.a AS c1, COUNT(DISTINCT q1.ts) FILTER (WHERE q2.b > 0) AS c2 FROM T AS q1 JOIN T AS q2 ON q1.ts = q2.b GROUP BY q1.a

-- the values of two aggregates
SELECT COUNT(DISTINCT q1.b) AS c1, SUM(DISTINCT q1.v) AS c2 FROM S AS q1

-- the values of two aggregates of one column
SELECT q1.v AS c1, COUNT(DISTINCT q1.b) AS c2, SUM(DISTINCT q1.b) AS c3 FROM S AS q1 GROUP BY q1.v

-- the values of two aggregates of a relation's
SELECT COUNT(DISTINCT q1.b) AS c1, SUM(DISTINCT q1.b) AS c2 FROM R AS q1

-- a group of each time, in two cases
SELECT COUNT(q1.a) AS c1 FROM T AS q1 WHERE (q1.b = 1 OR q1.ts > 1) GROUP BY q1.ts

-- a group of each time that is computed
SELECT q1.ts + 1 AS c1, COUNT(*) AS c2 FROM T AS q1 GROUP BY q1.ts + 1

-- a group of each of few times
SELECT COUNT(q1.a) AS c1 FROM T AS q1 WHERE q1.ts <= 4 GROUP BY q1.ts

-- a group of each distance
SELECT q1.ts - q2.ts AS c1, COUNT(*) AS c2 FROM S AS q1 JOIN T AS q2 ON q1.a = q2.a AND q1.ts < q2.ts + 4 AND q2.ts < q1.ts + 3 GROUP BY q1.ts - q2.ts

-- groups of two times
SELECT COUNT(*) AS c1 FROM S AS q1 JOIN T AS q2 ON q1.a = q2.a AND q1.ts < q2.ts + 4 AND q2.ts < q1.ts + 3 GROUP BY q1.ts, q2.ts

-- groups in a period of each time
SELECT COUNT(*) AS c1 FROM S AS q1 GROUP BY q1.ts DIV 4, q1.ts

-- a CASE of columns of two streams
SELECT q1.v AS c1, COUNT(DISTINCT CASE q1.ts WHEN 1 THEN q2.b WHEN 0 THEN -1 WHEN q2.ts THEN q1.b END) AS c2 FROM T AS q1 JOIN S AS q2 ON q1.b = q2.v GROUP BY q1.v

-- groups of a join with a relation that changes, without aggregates
SELECT q1.a AS c1 FROM S AS q1 JOIN R AS q2 ON q1.v = q2.a GROUP BY q1.a, q2.b % 2

-- a view of no rows
SELECT q1.b AS c1 FROM T AS q1 LEFT ANTI JOIN (SELECT SUM(q3.b) AS c1 FROM T AS q3 WHERE q3.v - q3.v <> 0 GROUP BY q3.ts) AS q2 ON q1.ts = q2.c1

-- a name without an alias above EXISTS
SELECT v AS c1 FROM S WHERE v > 1 AND EXISTS (SELECT 1 FROM T WHERE T.b = S.a AND v < 3 AND T.ts <= S.ts)

-- a name without an alias above NOT IN
SELECT v AS c1 FROM S WHERE v > 1 AND a NOT IN (SELECT b FROM T WHERE v < 3 AND T.ts <= S.ts)

-- a name without an alias above a count
SELECT v AS c1, b AS c2 FROM S WHERE v > 0 AND b <= (SELECT COUNT(*) AS v FROM T)

-- partners that come one by one, LEFT JOIN above LEFT JOIN
SELECT q1.a AS c1, q1.v AS c2 FROM S AS q1 LEFT JOIN T AS q2 ON q1.a = q2.a AND q2.ts BETWEEN q1.ts - 3 AND q1.ts LEFT JOIN T AS q3 ON q3.b = q1.a AND q3.ts BETWEEN q1.ts AND q1.ts + 2

-- partners that come one by one, LEFT JOIN above LEFT SEMI JOIN
SELECT q1.a AS c1, q1.v AS c2 FROM S AS q1 LEFT SEMI JOIN T AS q2 ON q1.a = q2.a AND q2.ts BETWEEN q1.ts - 3 AND q1.ts LEFT JOIN T AS q3 ON q3.b = q1.a AND q3.ts BETWEEN q1.ts AND q1.ts + 2

-- partners that come one by one, LEFT SEMI JOIN above LEFT JOIN
SELECT q1.a AS c1, q1.v AS c2 FROM S AS q1 LEFT JOIN T AS q2 ON q1.a = q2.a AND q2.ts BETWEEN q1.ts - 3 AND q1.ts LEFT SEMI JOIN T AS q3 ON q3.b = q1.a AND q3.ts BETWEEN q1.ts AND q1.ts + 2

-- partners that come one by one, LEFT SEMI JOIN above LEFT SEMI JOIN
SELECT q1.a AS c1, q1.v AS c2 FROM S AS q1 LEFT SEMI JOIN T AS q2 ON q1.a = q2.a AND q2.ts BETWEEN q1.ts - 3 AND q1.ts LEFT SEMI JOIN T AS q3 ON q3.b = q1.a AND q3.ts BETWEEN q1.ts AND q1.ts + 2

-- partners that come one by one, LEFT ANTI JOIN above LEFT JOIN
SELECT q1.a AS c1, q1.v AS c2 FROM S AS q1 LEFT JOIN T AS q2 ON q1.a = q2.a AND q2.ts BETWEEN q1.ts - 3 AND q1.ts LEFT ANTI JOIN T AS q3 ON q3.b = q1.a AND q3.ts BETWEEN q1.ts AND q1.ts + 2

-- partners that come one by one, LEFT ANTI JOIN above LEFT SEMI JOIN
SELECT q1.a AS c1, q1.v AS c2 FROM S AS q1 LEFT SEMI JOIN T AS q2 ON q1.a = q2.a AND q2.ts BETWEEN q1.ts - 3 AND q1.ts LEFT ANTI JOIN T AS q3 ON q3.b = q1.a AND q3.ts BETWEEN q1.ts AND q1.ts + 2

-- partners that come one by one, LEFT JOIN above RIGHT JOIN
SELECT q2.v AS c1, q3.v AS c2 FROM S AS q1 RIGHT JOIN T AS q2 ON q1.a = q2.a AND q2.ts BETWEEN q1.ts AND q1.ts + 2 LEFT JOIN S AS q3 ON q3.a = q2.a AND q3.ts BETWEEN q2.ts AND q2.ts + 2

-- buckets of ends of windows, MAX(q1.n)
SELECT MAX(q1.n) AS c1 FROM (SELECT ⟦window(ts, '1 microseconds').end‖(ts DIV 1) * 1 + 1⟧ AS t, COUNT(*) AS n FROM S GROUP BY ⟦window(ts, '1 microseconds')‖ts DIV 1⟧) AS q1 GROUP BY q1.t DIV 2

-- buckets of ends of windows, MIN(q1.n)
SELECT MIN(q1.n) AS c1 FROM (SELECT ⟦window(ts, '2 microseconds').end‖(ts DIV 2) * 2 + 2⟧ AS t, COUNT(*) AS n FROM S GROUP BY ⟦window(ts, '2 microseconds')‖ts DIV 2⟧) AS q1 GROUP BY q1.t DIV 2

-- buckets of ends of windows, COUNT(DISTINCT q1.n)
SELECT COUNT(DISTINCT q1.n) AS c1 FROM (SELECT ⟦window(ts, '3 microseconds').end‖(ts DIV 3) * 3 + 3⟧ AS t, COUNT(*) AS n FROM S GROUP BY ⟦window(ts, '3 microseconds')‖ts DIV 3⟧) AS q1 GROUP BY q1.t DIV 2

-- groups of rows that wait, of which only values go
SELECT MIN(q1.v) AS c1, COUNT(*) AS c2 FROM S AS q1 LEFT ANTI JOIN S AS q2 ON q1.ts = q2.ts AND q1.v < q2.v GROUP BY q1.a DIV 2

-- a correlated NOT IN
SELECT q1.b AS c1, q1.v AS c2 FROM S AS q1 WHERE q1.b NOT IN (SELECT q2.a FROM S AS q2 WHERE q2.a = q1.b)

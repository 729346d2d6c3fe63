-- [streams.S]
-- timestamp = "ts"
-- columns = { b = "bigint", c = "bigint", d = "double", s = "string", ts = "timestamp" }
-- max_per_timestamp = 4
-- [streams.T]
-- timestamp = "ts"
-- columns = { b = "bigint", c = "bigint", d = "double", s = "string", ts = "timestamp" }
-- max_per_timestamp = 4

-- A star that is no list.
--

-- says: * is outside the query language here
SELECT MIN(*) FROM S
-- unsupported: SB110 1:12-13 "*"

-- says: * is outside the query language here
SELECT SUM(*) FROM S
-- unsupported: SB110 1:12-13 "*"

-- says: * is outside the query language here
SELECT BOOL_AND(*) FROM S
-- unsupported: SB110 1:17-18 "*"

-- says: * is outside the query language here
SELECT MEDIAN(*) FROM S
-- unsupported: SB110 1:15-16 "*"

-- says: * is outside the query language here
SELECT abs(*) FROM S
-- unsupported: SB110 1:12-13 "*"

-- says: * is outside the query language here
SELECT COUNT(DISTINCT *) FROM S
-- unsupported: SB110 1:23-24 "*"

-- says: * is outside the query language here
SELECT COUNT(*, b) FROM S
-- unsupported: SB110 1:14-15 "*"

-- says: S.* is outside the query language here
SELECT COUNT(S.*) FROM S
-- unsupported: SB110 1:14-17 "S.*"

-- says: * is outside the query language here
SELECT RANK(*) OVER (ORDER BY ts) FROM S
-- unsupported: SB110 1:13-14 "*"

-- says: * is outside the query language here
SELECT LAG(*) OVER (ORDER BY ts) FROM S
-- unsupported: SB110 1:12-13 "*"

-- says: * is outside the query language here
SELECT b FROM S GROUP BY b HAVING MIN(*) > 1
-- unsupported: SB110 1:39-40 "*"

-- says: * is outside the query language here
SELECT MAX(*) AS m FROM (SELECT COUNT(*) AS n FROM S GROUP BY b) q
-- unsupported: SB110 1:12-13 "*"

-- says: q1.* is outside the query language here
SELECT q1.b FROM S q1 JOIN T q2 ON q1.* = q2.*
-- unsupported: SB110 1:36-40 "q1.*"

-- says: q1.* is outside the query language here
SELECT q1.b FROM S q1 LEFT JOIN T q2 ON q1.b = q2.b AND q1.*
-- unsupported: SB110 1:57-61 "q1.*"

-- says: q1.* is outside the query language here
SELECT q1.b FROM S q1 WHERE EXISTS (SELECT 1 FROM T q2 WHERE q1.* = q2.*)
-- unsupported: SB110 1:62-66 "q1.*"

-- says: S.* is outside the query language here
SELECT b, SUM(c) OVER (PARTITION BY S.* ORDER BY ts) FROM S
-- unsupported: SB110 1:37-40 "S.*"

-- says: * is outside the query language here
SELECT COUNT(*) FROM S GROUP BY *
-- unsupported: SB110 1:33-34 "*"

-- Others stay what they are.
--

SELECT COUNT(*) FROM S
-- bounded

SELECT COUNT(*) OVER (ORDER BY ts) AS n FROM S
-- bounded

SELECT COUNT(*) FILTER (WHERE b > 1) FROM S
-- bounded

SELECT S.*, 1 AS one FROM S
-- bounded

SELECT * EXCEPT (b) FROM S
-- bounded

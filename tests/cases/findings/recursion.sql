-- [streams.E]
-- timestamp = "ts"
-- columns = { a = "bigint", b = "bigint", ts = "bigint" }
-- max_per_timestamp = 3
-- domain = { a = [0, 3], b = [0, 3] }
-- [streams.F]
-- timestamp = "ts"
-- columns = { a = "bigint", b = "bigint", ts = "bigint" }
-- max_per_timestamp = 3
-- domain = { a = [0, 3], b = [0, 3] }

-- A recursion through its own negation.
--

-- says: takes rows away from itself, or aggregates them
WITH RECURSIVE r(x) AS (SELECT a FROM E UNION SELECT E.b FROM E WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.x = E.a)) SELECT x FROM r
-- unsupported: SB110 1:75-115 "EXISTS (SELECT 1 FROM r WHERE r.x = E.a)"

-- says: takes rows away from itself, or aggregates them
WITH RECURSIVE r(x) AS (SELECT a FROM E UNION SELECT E.b FROM E WHERE E.a NOT IN (SELECT x FROM r)) SELECT x FROM r
-- unsupported: SB110 1:71-99 "E.a NOT IN (SELECT x FROM r)"

-- says: takes rows away from itself, or aggregates them
WITH RECURSIVE r(x) AS (SELECT a FROM E UNION SELECT E.b FROM E LEFT JOIN r ON r.x = E.a) SELECT x FROM r
-- unsupported: SB110 1:65-69 "LEFT"

-- says: takes rows away from itself, or aggregates them
WITH RECURSIVE r(x) AS (SELECT a FROM E UNION SELECT E.b FROM E JOIN (SELECT a FROM E EXCEPT SELECT x FROM r) AS q ON q.a = E.a) SELECT x FROM r
-- unsupported: SB110 1:87-93 "EXCEPT"

-- says: takes rows away from itself, or aggregates them
WITH RECURSIVE r(x) AS (SELECT a FROM E UNION SELECT COUNT(*) FROM r GROUP BY x) SELECT x FROM r
-- unsupported: SB110 1:70-78 "GROUP BY"

-- says: takes rows away from itself, or aggregates them
WITH RECURSIVE r(x) AS (SELECT a FROM E UNION SELECT E.b FROM E WHERE E.a > (SELECT COUNT(*) FROM r)) SELECT x FROM r
-- unsupported: SB110 1:78-100 "SELECT COUNT(*) FROM r"

-- It may take away what it is not made of.
--

-- says: in the step of a recursion
WITH RECURSIVE r(x) AS (SELECT a FROM E UNION SELECT E.b FROM E WHERE E.a IN (SELECT x FROM r)) SELECT x FROM r
-- unsupported: SB110 1:71-95 "E.a IN (SELECT x FROM r)"

-- says: in the step of a recursion
WITH RECURSIVE r(x) AS (SELECT a FROM E UNION SELECT E.b FROM E JOIN (SELECT x FROM r EXCEPT SELECT a FROM E WHERE b = 1) AS q ON q.x = E.a) SELECT x FROM r
-- unsupported: SB110 1:87-93 "EXCEPT"

-- says: in the step of a recursion
WITH RECURSIVE r(x) AS (SELECT a FROM E UNION SELECT r.x FROM r WHERE NOT EXISTS (SELECT 1 FROM E WHERE r.x = E.a)) SELECT x FROM r
-- unsupported: SB110 1:75-115 "EXISTS (SELECT 1 FROM E WHERE r.x = E.a)"

-- Its rows have no order.
--

-- says: is outside the query language
WITH RECURSIVE r(x) AS (SELECT a FROM E UNION SELECT E.b FROM r JOIN E ON r.x = E.a ORDER BY 1) SELECT x FROM r
-- unsupported: SB110 1:85-93 "ORDER BY"

-- says: is outside the query language
WITH RECURSIVE r(x) AS (SELECT a FROM E UNION SELECT E.b FROM r JOIN E ON r.x = E.a LIMIT 2) SELECT x FROM r
-- unsupported: SB110 1:85-90 "LIMIT"

-- says: recursion by UNION ALL
WITH RECURSIVE r(x, y) AS (SELECT a, b FROM E UNION ALL SELECT r.x, E.b FROM r JOIN E ON E.a = r.y) SELECT x FROM r
-- unsupported: SB110 1:6-15 "RECURSIVE"

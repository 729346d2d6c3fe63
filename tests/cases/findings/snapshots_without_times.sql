-- [relations.r]
-- columns = { a = "bigint", b = "bigint", m = "map<int,int>", vb = "bigint", ve = "bigint" }
-- period = ["vb", "ve"]
-- [relations.s]
-- columns = { a = "bigint", b = "bigint", m = "map<int,int>", vb = "bigint", ve = "bigint" }
-- period = ["vb", "ve"]
-- [relations.days]
-- columns = { a = "bigint", db = "date", de = "date" }
-- period = ["db", "de"]
-- [relations.fixed]
-- columns = { a = "bigint", n = "string" }
-- [streams.E]
-- timestamp = "ts"
-- columns = { a = "bigint", seq = "bigint", ts = "bigint" }

-- A missing domain is an error at its token.
--

SEQ VT (SELECT COUNT(*) AS n FROM r)
-- error: SB108 1:16-24 "COUNT(*)"

SEQ VT (SELECT a FROM fixed)
-- error: SB108 1:23-28 "fixed"

SEQ VT (SELECT 1 AS one)
-- error: SB108 1:9-24 "SELECT 1 AS one"

SEQ VT (SELECT a FROM fixed UNION ALL SELECT a FROM r)
-- error: SB108 1:23-28 "fixed"

SEQ VT (SELECT fixed.a FROM fixed LEFT JOIN r ON r.a = fixed.a)
-- error: SB108 1:29-34 "fixed"

SEQ VT (SELECT a FROM fixed EXCEPT ALL SELECT a FROM r)
-- error: SB108 1:23-28 "fixed"

-- A header says it.
--

SEQ VT FROM 0 TO 9 (SELECT COUNT(*) AS n FROM r)
-- bounded

SEQ VT AS OF 3 (SELECT COUNT(*) AS n FROM r)
-- bounded

SEQ VT FROM 0 TO 9 (SELECT a FROM fixed)
-- bounded

SEQ VT AS OF 3 (SELECT a FROM fixed)
-- bounded

SEQ VT FROM 0 TO 9 (SELECT 1 AS one)
-- bounded

SEQ VT AS OF 3 (SELECT 1 AS one)
-- bounded

SEQ VT FROM 0 TO 9 (SELECT a FROM fixed UNION ALL SELECT a FROM r)
-- bounded

SEQ VT AS OF 3 (SELECT a FROM fixed UNION ALL SELECT a FROM r)
-- bounded

SEQ VT FROM 0 TO 9 (SELECT fixed.a FROM fixed LEFT JOIN r ON r.a = fixed.a)
-- bounded

SEQ VT AS OF 3 (SELECT fixed.a FROM fixed LEFT JOIN r ON r.a = fixed.a)
-- bounded

SEQ VT FROM 0 TO 9 (SELECT a FROM fixed EXCEPT ALL SELECT a FROM r)
-- bounded

SEQ VT AS OF 3 (SELECT a FROM fixed EXCEPT ALL SELECT a FROM r)
-- bounded

-- Nothing is needed.
--

SEQ VT (SELECT a FROM r)
-- bounded

SEQ VT (SELECT a, COUNT(*) AS n FROM r GROUP BY a)
-- bounded

SEQ VT (SELECT r.a, fixed.n FROM r JOIN fixed ON r.a = fixed.a)
-- bounded

SEQ VT (SELECT r.a, fixed.n FROM r LEFT JOIN fixed ON r.a = fixed.a)
-- bounded

SEQ VT (SELECT r.a FROM r LEFT ANTI JOIN fixed ON r.a = fixed.a)
-- bounded

SEQ VT (SELECT a FROM r EXCEPT ALL SELECT a FROM fixed)
-- bounded

SEQ VT (SELECT a FROM fixed WHERE EXISTS (SELECT 1 FROM r WHERE r.a = fixed.a))
-- bounded

SEQ VT (SELECT a FROM fixed INTERSECT SELECT a FROM r)
-- bounded

-- [time]
-- domain = [0, 24]
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
-- [relations.t]
-- columns = { i = "bigint", b = "boolean", n = "string", d = "date", vb = "bigint", ve = "bigint" }
-- period = ["vb", "ve"]
-- [streams.E]
-- timestamp = "ts"
-- columns = { a = "bigint", seq = "bigint", ts = "bigint" }

-- Outside of the language of SEQ VT.
--

SEQ VT (SELECT a FROM r ORDER BY a)
-- unsupported: SB110 1:34-35 "a"

SEQ VT (SELECT a FROM r LIMIT 3)
-- unsupported: SB110 1:31-32 "3"

SEQ VT (SELECT row_number() OVER (ORDER BY a) AS n FROM r)
-- unsupported: SB110 1:16-26 "row_number"

SEQ VT (SELECT a, rand() AS x FROM r)
-- unsupported: SB110 1:19-23 "rand"

SEQ VT (SELECT a, current_timestamp AS x FROM r)
-- unsupported: SB110 1:19-36 "current_timestamp"

SEQ VT (SELECT a, my_udf(a) AS x FROM r)
-- unsupported: SB110 1:19-28 "my_udf(a)"

-- says: an aggregate without GROUP BY
SEQ VT (SELECT a, (SELECT s.a FROM s) AS x FROM r)
-- unsupported: SB110 1:19-38 "(SELECT s.a FROM s)"

-- says: in equalities of its own WHERE
SEQ VT (SELECT a FROM r WHERE a > (SELECT MAX(s.a) FROM s WHERE s.b < r.b))
-- unsupported: SB110 1:65-74 "s.b < r.b"

SEQ VT (SELECT a, (SELECT MAX(s.a) FROM s) AS x FROM r WHERE b IN (SELECT b FROM s WHERE b > (SELECT MIN(a) FROM r)))
-- bounded

SEQ VT (SELECT a FROM r WHERE a = 1 OR a IN (SELECT s.a FROM s))
-- unsupported: SB110 1:45-64 "(SELECT s.a FROM s)"

SEQ VT (SELECT a, COUNT(*) AS n FROM r GROUP BY ROLLUP (a))
-- unsupported: SB110 1:49-55 "ROLLUP"

SEQ VT (SELECT COUNT(*) AS n FROM r GROUP BY GROUPING SETS ((a), ()))
-- unsupported: SB110 1:46-59 "GROUPING SETS"

SEQ VT (SELECT * FROM r NATURAL JOIN s)
-- unsupported: SB110 1:25-32 "NATURAL"

SEQ VT (SELECT E.a FROM E)
-- unsupported: SB110 1:25-26 "E"

SEQ VT (SELECT r.m FROM r)
-- unsupported: SB110 1:16-19 "r.m"

SEQ VT (SELECT a, stddev(b) AS x FROM r GROUP BY a)
-- unsupported: SB110 1:19-28 "stddev(b)"

SEQ VT (SELECT r.a FROM r WHERE EXISTS (SELECT COUNT(*) FROM s WHERE s.a = r.a))
-- unsupported: SB110 1:76-79 "r.a"

SEQ VT (SELECT r.a FROM r WHERE EXISTS (SELECT 1 FROM s WHERE EXISTS (SELECT 1 FROM days WHERE days.a = r.a)))
-- unsupported: SB110 1:105-108 "r.a"

SEQ VT (SELECT r.b, COUNT(*) AS n FROM r GROUP BY r.a)
-- unsupported: SB110 1:16-19 "r.b"

SEQ VT (SELECT a FROM r WHERE b > 1 AND COUNT(*) > 1)
-- unsupported: SB110 1:41-49 "COUNT(*)"

SEQ VT (SELECT r.a FROM r JOIN s ON r.a = s.a AND MAX(s.b) > 1)
-- unsupported: SB110 1:51-59 "MAX(s.b)"

SEQ VT (SELECT a FROM r GROUP BY a, SUM(b))
-- unsupported: SB110 1:37-43 "SUM(b)"

-- Without meaning.
--

SEQ VT (SELECT r.vb FROM r)
-- error: SB102 1:16-20 "r.vb"

SEQ VT (SELECT r.c FROM r)
-- error: SB102 1:16-19 "r.c"

SEQ VT (SELECT a FROM r JOIN s ON r.a = s.a)
-- error: SB103 1:16-17 "a"

SEQ VT (SELECT r.a, s.a FROM r JOIN s ON r.a = s.a)
-- error: SB103 1:21-24 "s.a"

SEQ VT (SELECT a AS _begin FROM r)
-- error: SB103 1:16-27 "a AS _begin"

SEQ VT (SELECT a FROM r UNION SELECT a, b FROM s)
-- error: SB106 1:25-30 "UNION"

SEQ VT (SELECT r.a FROM r JOIN days ON r.a = days.a)
-- error: SB107 1:32-36 "days"

SEQ VT (SELECT a FROM nowhere)
-- error: SB101 1:23-30 "nowhere"

SEQ VT (SELECT r.b FROM r JOIN s USING (a, vb))
-- error: SB102 1:44-46 "vb"

SEQ VT (SELECT r.b FROM r LEFT JOIN fixed USING (a, b))
-- error: SB102 1:53-54 "b"

-- Times that are none.
--

SEQ VT FROM 5 TO 5 (SELECT a FROM r)
-- error: SB104 1:13-14 "5"

SEQ VT FROM 7 TO 5 (SELECT a FROM r)
-- error: SB104 1:13-14 "7"

SEQ VT AS OF 24 (SELECT a FROM r)
-- error: SB104 1:14-16 "24"

SEQ VT AS OF DATE '2020-01-01' (SELECT a FROM r)
-- error: SB104 1:14-31 "DATE '2020-01-01'"

SEQ VT FROM a TO 9 (SELECT a FROM r)
-- error: SB104 1:13-14 "a"

-- What is no block is told where it ceases to be one.
--

SEQ VTT (SELECT a FROM r)
-- error: SB001 1:5-8 "VTT"

SEQ VT SELECT a FROM r
-- error: SB001 1:8-14 "SELECT"

SEQ VT AS OFF 3 (SELECT a FROM r)
-- error: SB001 1:8-10 "AS"

SEQ VT FROM 3 (SELECT a FROM r)
-- error: SB001 1:8-12 "FROM"

SEQ VT (SELECT a FROM r) UNION ALL SEQ VT (SELECT a FROM s)
-- error: SB001 1:26-31 "UNION"

-- A column that is no boolean is no condition: Spark refuses it, too.
--

SEQ VT (SELECT a FROM fixed WHERE n)
-- error: SB104 1:35-36 "n"

SEQ VT (SELECT x.a FROM r AS x WHERE (x.a))
-- error: SB104 1:39-42 "x.a"

SEQ VT (SELECT r.a FROM r JOIN fixed ON fixed.n)
-- error: SB104 1:41-48 "fixed.n"

SEQ VT (SELECT w.y FROM (SELECT a AS y FROM r) AS w JOIN s ON s.b)
-- error: SB104 1:63-66 "s.b"

-- What has no truth value is no part of a condition.
--

-- says: no condition
SEQ VT (SELECT i FROM t WHERE b AND i)
-- error: SB104 1:37-38 "i"

-- says: no condition
SEQ VT (SELECT i FROM t WHERE b AND n)
-- error: SB104 1:37-38 "n"

-- says: no condition
SEQ VT (SELECT i FROM t WHERE b OR t.i)
-- error: SB104 1:36-39 "t.i"

-- says: no condition
SEQ VT (SELECT i FROM t WHERE NOT d)
-- error: SB104 1:35-36 "d"

-- says: no condition
SEQ VT (SELECT i FROM t WHERE n OR n)
-- error: SB104 1:31-32 "n"

-- says: no condition
SEQ VT (SELECT i FROM t WHERE i = 1 AND (i > 2 OR NOT (b AND 1)))
-- error: SB104 1:62-63 "1"

-- says: no condition
SEQ VT (SELECT i FROM t WHERE b OR NOT 'yes' AND d)
-- error: SB104 1:50-51 "d"

-- says: no condition
SEQ VT (SELECT t.i FROM t JOIN r ON t.i = r.a AND r.b)
-- error: SB104 1:51-54 "r.b"

-- says: no condition
SEQ VT (SELECT t.i FROM t LEFT JOIN r ON t.i = r.a OR t.i)
-- error: SB104 1:55-58 "t.i"

-- says: no condition
SEQ VT (SELECT n, COUNT(*) AS c FROM t GROUP BY n HAVING n = 'a' AND COUNT(*))
-- error: SB104 1:70-78 "COUNT(*)"

-- says: no condition
SEQ VT (SELECT n, MAX(i) AS c FROM t GROUP BY n HAVING n = 'a' OR NOT MAX(i))
-- error: SB104 1:71-77 "MAX(i)"

-- says: no condition
SEQ VT (SELECT d, COUNT(*) AS c FROM t GROUP BY d HAVING COUNT(*) > 1 AND d)
-- error: SB104 1:75-76 "d"

-- says: no condition
SEQ VT (SELECT a FROM r WHERE EXISTS (SELECT 1 FROM t WHERE t.i = r.a AND t.i))
-- error: SB104 1:75-78 "t.i"

-- says: no condition
SEQ VT (SELECT i FROM (SELECT i, i + 1 AS j FROM t) WHERE j)
-- error: SB104 1:59-60 "j"

-- says: no condition
SEQ VT (SELECT i FROM t WHERE b AND i + 1)
-- error: SB104 1:37-42 "i + 1"

-- says: no condition
SEQ VT (SELECT i FROM (SELECT i, upper(n) AS m FROM t) AS x JOIN r ON x.i = r.a AND x.m)
-- error: SB104 1:85-88 "x.m"

-- says: no condition
SEQ VT (SELECT COUNT(*) FILTER (WHERE i) AS c FROM t GROUP BY n)
-- error: SB104 1:39-40 "i"

-- says: no condition
SEQ VT (SELECT l FROM (SELECT length(n) AS l FROM t GROUP BY length(n)) WHERE NOT l)
-- error: SB104 1:83-84 "l"

-- What would show more than a snapshot, or cannot be compared.
--

SEQ VT (SELECT n, hash(*) AS h FROM t)
-- unsupported: SB110 1:24-25 "*"

SEQ VT (SELECT n FROM t WHERE struct(*).i = 3)
-- unsupported: SB110 1:38-39 "*"

SEQ VT (SELECT COUNT(t.*) AS c FROM t GROUP BY n)
-- unsupported: SB110 1:24-25 "*"

SEQ VT (SELECT COUNT(DISTINCT *) AS c FROM t GROUP BY n)
-- unsupported: SB110 1:31-32 "*"

SEQ VT (SELECT n, MAX(struct(*)) AS c FROM t GROUP BY n)
-- unsupported: SB110 1:30-31 "*"

SEQ VT (SELECT map('k', i) AS m FROM t)
-- unsupported: SB110 1:16-27 "map('k', i)"

SEQ VT (SELECT COUNT(*) AS c FROM t GROUP BY str_to_map(n))
-- unsupported: SB110 1:46-59 "str_to_map(n)"

-- A star leaves out columns that are there.
--

SEQ VT (SELECT * EXCEPT (n) FROM t)
-- bounded

SEQ VT (SELECT * EXCEPT (vb) FROM t)
-- error: SB102 1:16-29 "* EXCEPT (vb)"

SEQ VT (SELECT * EXCEPT (nothing) FROM t)
-- error: SB102 1:16-34 "* EXCEPT (nothing)"

-- A snapshot at a time has no columns of a period.
--

SEQ VT AS OF 3 (SELECT i AS _begin FROM t)
-- bounded

SEQ VT AS OF 3 (SELECT i AS _mult FROM t)
-- error: SB103 1:24-34 "i AS _mult"

SEQ VT (SELECT i AS _begin FROM t)
-- error: SB103 1:16-27 "i AS _begin"

-- What is no number has no sum.
--

-- says: no sum
SEQ VT (SELECT SUM(b) AS s FROM t GROUP BY n)
-- error: SB104 1:20-21 "b"

-- says: no sum
SEQ VT (SELECT n, AVG(d) AS s FROM t GROUP BY n)
-- error: SB104 1:23-24 "d"

-- says: no sum
SEQ VT (SELECT n, SUM(DISTINCT i > 1) AS s FROM t GROUP BY n)
-- error: SB104 1:32-37 "i > 1"

-- says: no sum
SEQ VT (SELECT n, SUM(c) AS s FROM (SELECT n, i = 1 OR b AS c FROM t) GROUP BY n)
-- error: SB104 1:23-24 "c"

-- says: no sum
SEQ VT (SELECT n, SUM(m) AS s FROM (SELECT n, MAX(d) AS m FROM t GROUP BY n) GROUP BY n)
-- error: SB104 1:23-24 "m"

-- A name that both have, and one that the block has not.
--

SEQ VT (SELECT r.a FROM r JOIN s ON r.a = s.a WHERE b > 1)
-- error: SB103 1:53-54 "b"

SELECT v.x FROM SEQ VT (SELECT a FROM r) AS v
-- error: SB102 1:8-11 "v.x"

-- What Spark takes for a condition is one.
--

SEQ VT (SELECT i FROM t WHERE b)
-- bounded

SEQ VT (SELECT i FROM t WHERE b AND NOT b)
-- bounded

SEQ VT (SELECT i FROM t WHERE b OR n)
-- bounded

SEQ VT (SELECT i FROM t WHERE NOT n)
-- bounded

SEQ VT (SELECT i FROM t WHERE NOT (n OR b))
-- bounded

SEQ VT (SELECT i FROM t WHERE b OR NULL)
-- bounded

SEQ VT (SELECT i FROM t WHERE true AND b)
-- bounded

SEQ VT (SELECT i FROM t WHERE n = 'a' OR 'true')
-- bounded

-- What has no meaning in a semiring.
--

SEQ VT SEMIRING boolean (SELECT a, COUNT(*) AS n FROM r GROUP BY a)
-- unsupported: SB110 1:36-44 "COUNT(*)"

SEQ VT SEMIRING boolean (SELECT a, COUNT(DISTINCT b) AS n FROM r GROUP BY a EXCEPT ALL SELECT a, b FROM s)
-- bounded

SEQ VT SEMIRING tropical OF b (SELECT a FROM r EXCEPT SELECT a FROM s)
-- unsupported: SB110 1:48-54 "EXCEPT"

SEQ VT SEMIRING tropical OF b (SELECT r.a FROM r LEFT JOIN s ON r.a = s.a)
-- unsupported: SB110 1:60-61 "s"

SEQ VT SEMIRING tropical OF b (SELECT a, b FROM r)
-- unsupported: SB110 1:42-43 "b"

SEQ VT SEMIRING tropical OF b (SELECT a FROM r WHERE a IN (SELECT a FROM s))
-- unsupported: SB110 1:59-76 "(SELECT a FROM s)"

SEQ VT SEMIRING tropical OF b (SELECT MAX(a) AS a FROM r)
-- unsupported: SB110 1:39-45 "MAX(a)"

SEQ VT SEMIRING tropical OF n (SELECT a FROM fixed)
-- unsupported: SB110 1:32-51 "SELECT a FROM fixed"

SEQ VT SEMIRING tropical OF b (SELECT r.a FROM r, (SELECT s.a FROM s) AS q(x), fixed WHERE q.x = r.a)
-- bounded

SEQ VT SEMIRING lineage (SELECT a FROM r)
-- error: SB001 1:8-16 "SEMIRING"

-- [relations.a]
-- columns = { n = "string", k = "bigint", id = "bigint", p = "double", vb = "bigint", ve = "bigint" }
-- period = ["vb", "ve"]
-- key = "id"
-- probability = "p"
-- [relations.b]
-- columns = { h = "string", j = "bigint", id = "bigint", p = "double", vb = "bigint", ve = "bigint" }
-- period = ["vb", "ve"]
-- key = "id"
-- probability = "p"
-- [relations.d]
-- columns = { x = "string", id = "bigint", p = "double", vb = "date", ve = "date" }
-- period = ["vb", "ve"]
-- key = "id"
-- probability = "p"
-- [relations.plain]
-- columns = { k = "bigint", vb = "bigint", ve = "bigint" }
-- period = ["vb", "ve"]
-- [streams.S]
-- timestamp = "ts"
-- columns = { ts = "bigint", k = "bigint" }

-- What is refused in SEQ TP.
--

-- says: random variable
SEQ TP (SELECT p FROM a)
-- error: SB102 1:16-17 "p"

-- says: select by _begin and _end
SEQ TP (SELECT n FROM a WHERE vb > 3)
-- error: SB102 1:31-33 "vb"

-- says: no period, key and probability
SEQ TP (SELECT * FROM plain)
-- unsupported: SB110 1:23-28 "plain"

-- says: no period, key and probability
SEQ TP (SELECT * FROM S)
-- unsupported: SB110 1:23-24 "S"

-- says: SEQ TP has one COUNT of each group
SEQ TP (SELECT k, COUNT(*) AS c, MAX(n) AS m FROM a GROUP BY k)
-- unsupported: SB110 1:34-40 "MAX(n)"

-- says: EXPECTED is of COUNT and SUM
SEQ TP (SELECT k, EXPECTED(MAX(n)) AS m FROM a GROUP BY k)
-- unsupported: SB110 1:19-35 "EXPECTED(MAX(n))"

-- says: an item of a list with GROUP BY
SEQ TP (SELECT EXPECTED(k) AS m FROM a)
-- unsupported: SB110 1:16-27 "EXPECTED(k)"

-- says: an aggregate without GROUP BY is outside
SEQ TP (SELECT COUNT(*) AS c FROM a)
-- unsupported: SB110 1:9-36 "SELECT COUNT(*) AS c FROM a"

-- says: UNION ALL is outside
SEQ TP (SELECT n FROM a UNION ALL SELECT h FROM b)
-- unsupported: SB110 1:25-30 "UNION"

-- says: this subquery
SEQ TP (SELECT n FROM a WHERE k = 1 OR EXISTS (SELECT 1 FROM b))
-- unsupported: SB110 1:48-63 "SELECT 1 FROM b"

-- says: a subquery that is a value
SEQ TP (SELECT n FROM a WHERE k > (SELECT COUNT(*) FROM b))
-- unsupported: SB110 1:43-58 "COUNT(*) FROM b"

-- says: date
SEQ TP (SELECT * FROM a JOIN d ON a.n = d.x)
-- error: SB107 1:30-31 "d"

-- says: two columns
SEQ TP (SELECT * FROM a AS x JOIN a AS y ON x.k = y.k)
-- error: SB103 1:9-54 "SELECT * FROM a AS x JOIN a AS y ON x.k = y.k"

-- says: its own _p
SEQ TP (SELECT n AS _p FROM a)
-- error: SB103 1:16-23 "n AS _p"

-- says: ORDER BY
SEQ TP (SELECT n FROM a ORDER BY n)
-- unsupported: SB110 1:34-35 "n"

-- says: is no time
SEQ TP FROM 3 TO 1 (SELECT * FROM a)
-- error: SB104 1:13-14 "3"

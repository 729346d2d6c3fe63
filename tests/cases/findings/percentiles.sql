-- [streams.S]
-- timestamp = "ts"
-- max_per_timestamp = 3
-- columns = { a = "bigint", b = "bigint", v = "bigint", s = "string", ts = "bigint" }
-- domain = { a = [0, 1], b = [0, 4] }
-- [streams.T]
-- timestamp = "ts"
-- max_per_timestamp = 3
-- columns = { a = "bigint", b = "bigint", v = "bigint", s = "string", ts = "bigint" }
-- domain = { a = [0, 1], b = [0, 4] }
-- [relations.R]
-- columns = { k = "bigint", y = "bigint" }
-- changes = { timestamp = "ts", op = "op" }
-- rows = 4

-- Percentiles that are refused.
--

-- says: from 0 to 1
SELECT PERCENTILE(b, 1.5) AS m FROM S
-- unsupported: SB110 1:8-26 "PERCENTILE(b, 1.5)"

-- says: from 0 to 1
SELECT PERCENTILE(b, -0.1) AS m FROM S
-- unsupported: SB110 1:8-27 "PERCENTILE(b, -0.1)"

-- says: from 0 to 1
SELECT PERCENTILE(b, v) AS m FROM S
-- unsupported: SB110 1:8-24 "PERCENTILE(b, v)"

-- says: from 0 to 1
SELECT PERCENTILE(b, ARRAY(0.1, 0.2)) AS m FROM S
-- unsupported: SB110 1:8-38 "PERCENTILE(b, ARRAY(0.1, 0.2))"

-- says: frequencies
SELECT PERCENTILE(b, 0.5, 2) AS m FROM S
-- unsupported: SB110 1:8-29 "PERCENTILE(b, 0.5, 2)"

-- says: is ordered by one value
SELECT PERCENTILE_CONT(0.5) AS m FROM S
-- unsupported: SB110 1:8-28 "PERCENTILE_CONT(0.5)"

-- says: from 0 to 1
SELECT PERCENTILE_DISC(2) WITHIN GROUP (ORDER BY b) AS m FROM S
-- unsupported: SB110 1:8-52 "PERCENTILE_DISC(2) WITHIN GROUP (ORDER BY b)"

-- says: PERCENTILE is exact
SELECT APPROX_PERCENTILE(b, 0.5) AS m FROM S
-- unsupported: SB110 1:8-33 "APPROX_PERCENTILE(b, 0.5)"

-- says: PERCENTILE is exact
SELECT PERCENTILE_APPROX(b, 0.5) AS m FROM S
-- unsupported: SB110 1:8-33 "PERCENTILE_APPROX(b, 0.5)"

-- says: MEDIAN is of numbers
SELECT MEDIAN(s) AS m FROM S
-- error: SB104 1:15-16 "s"

-- says: of numbers
SELECT PERCENTILE(s, 0) AS m FROM S
-- error: SB104 1:19-20 "s"

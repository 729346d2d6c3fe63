-- [streams.S]
-- columns = { a = "bigint", b = "bigint", v = "bigint", ts = "bigint" }
-- timestamp = "ts"
-- max_per_timestamp = 2
-- domain = { a = [0, 9], b = [0, 2], v = [-3, 4] }
-- [streams.T]
-- columns = { a = "bigint", b = "bigint", v = "bigint", ts = "bigint" }
-- timestamp = "ts"
-- max_per_timestamp = 2
-- domain = { a = [0, 9], b = [0, 2], v = [-3, 4] }
-- [relations.R]
-- columns = { k = "bigint" }
-- rows = 3

-- Numbers of rows and of units of time that Spark refuses, or that are not decided.
--

-- says: LAG counts rows by an INT, and 1L is none
-- says: write 1
SELECT LAG(a, 1L) OVER (ORDER BY ts) AS x FROM S
-- error: SB104 1:15-17 "1L"

-- says: LEAD counts rows by an INT, and '1' is none
SELECT LEAD(a, '1') OVER (ORDER BY ts) AS x FROM S
-- error: SB104 1:16-19 "'1'"

-- says: LAG counts rows by an INT, and 5000000000 is none
SELECT LAG(a, 5000000000) OVER (ORDER BY ts) AS x FROM S
-- error: SB104 1:15-25 "5000000000"

-- says: LAG by -1 is outside the query language
-- says: write LEAD(…, 1)
SELECT LAG(a, -1) OVER (ORDER BY ts) AS x FROM S
-- unsupported: SB110 1:16-17 "1"

-- says: LAG by b, which is no constant, is outside the query language
SELECT LAG(a, b) OVER (ORDER BY ts) AS x FROM S
-- unsupported: SB110 1:15-16 "b"

-- says: ROWS counts rows by an INT, and 2L is none
-- says: write 2
SELECT SUM(v) OVER (ORDER BY ts ROWS 2L PRECEDING) AS x FROM S
-- error: SB104 1:38-40 "2L"

-- says: ROWS counts rows by an INT, and '2' is none
SELECT SUM(v) OVER (ORDER BY ts ROWS '2' PRECEDING) AS x FROM S
-- error: SB104 1:38-41 "'2'"

-- says: the end of a frame is a whole number, not negative, or an interval of fixed length
SELECT SUM(v) OVER (ORDER BY ts RANGE 2.5 PRECEDING) AS x FROM S
-- unsupported: SB110 1:39-42 "2.5"

-- says: LIMIT takes an INT, and 2L is a bigint
-- says: write 2
SELECT a FROM S ORDER BY a LIMIT 2L
-- error: SB104 1:34-36 "2L"

-- says: OFFSET takes an INT, and 1S is a smallint
-- says: write 1
SELECT a FROM S WHERE ts IN (SELECT k FROM R LIMIT 2 OFFSET 1S)
-- error: SB104 1:61-63 "1S"

-- says: LIMIT takes an INT, and 2.0 is a decimal(2,1)
SELECT a FROM S WHERE ts IN (SELECT k FROM R LIMIT 2.0)
-- error: SB104 1:52-55 "2.0"

-- says: syntax error: the number of an interval has no suffix, as 5L has
-- says: write INTERVAL 5
SELECT a FROM S WHERE a < INTERVAL 5L DAYS
-- error: SB001 1:36-38 "5L"

-- [streams.S]
-- timestamp = "ts"
-- columns = { a = "bigint", b = "bigint", v = "bigint", ts = "timestamp" }
-- domain = { b = [0, 2] }
-- max_per_timestamp = 2
-- [streams.T]
-- timestamp = "ts"
-- columns = { a = "bigint", b = "bigint", v = "bigint", ts = "timestamp" }
-- domain = { b = [0, 2] }
-- max_per_timestamp = 2

-- Views that close with a window, and what is above them.
--

-- equal windows
SELECT l.a, l.n, r.n AS m FROM (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY a, window(ts, '4 seconds')) AS l JOIN (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM T GROUP BY a, window(ts, '4 seconds')) AS r ON l.z = r.z AND l.a = r.a
-- bounded: 31999992

-- both ends
SELECT l.a, r.t FROM (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY a, window(ts, '4 seconds')) AS l JOIN (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM T GROUP BY a, window(ts, '4 seconds')) AS r ON l.z = r.z AND l.y = r.y
-- bounded: 31999992

-- the hottest of each window
SELECT l.a, l.n, l.z FROM (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY a, window(ts, '4 seconds', '2 seconds')) AS l JOIN (SELECT x.z, MAX(x.n) AS most FROM (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY a, window(ts, '4 seconds', '2 seconds')) AS x GROUP BY x.z) AS r ON l.z = r.z AND l.n >= r.most
-- bounded: 63999988

-- without a partner
SELECT l.a, l.z, r.n FROM (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY a, window(ts, '4 seconds')) AS l LEFT JOIN (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM T GROUP BY a, window(ts, '4 seconds')) AS r ON l.z = r.z AND l.n < r.n
-- bounded: 31999992

-- semi
SELECT l.a, l.z FROM (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY a, window(ts, '4 seconds')) AS l LEFT SEMI JOIN (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM T GROUP BY a, window(ts, '4 seconds')) AS r ON l.z = r.z AND l.a = r.a
-- bounded: 31999992

-- anti
SELECT l.a, l.z FROM (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY a, window(ts, '4 seconds')) AS l LEFT ANTI JOIN (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM T GROUP BY a, window(ts, '4 seconds')) AS r ON l.z = r.z AND l.a = r.a
-- bounded: 31999992

-- the window before
SELECT l.a, l.n, r.n AS m FROM (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY a, window(ts, '4 seconds')) AS l JOIN (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY a, window(ts, '4 seconds')) AS r ON l.z = r.y AND l.a = r.a
-- bounded: 39999992

-- windows that overlap
SELECT l.a, l.n, r.n AS m FROM (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY a, window(ts, '4 seconds', '2 seconds')) AS l JOIN (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM T GROUP BY a, window(ts, '4 seconds')) AS r ON l.z <= r.z AND l.y >= r.z AND l.a = r.a
-- bounded: 63999988

-- one that closes later
SELECT l.a, l.n, r.t FROM (SELECT S.a, window.end AS y, COUNT(*) AS n FROM S, T WHERE T.b = S.b AND T.ts BETWEEN S.ts - INTERVAL '1' SECOND AND S.ts + INTERVAL '2' SECOND GROUP BY S.a, window(S.ts, '4 seconds')) AS l JOIN (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY a, window(ts, '4 seconds')) AS r ON l.y = r.y
-- bounded: 49999992

-- one that closes earlier
SELECT l.a, r.n, l.t FROM (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY a, window(ts, '4 seconds')) AS l LEFT JOIN (SELECT S.a, window.end AS y, COUNT(*) AS n FROM S, T WHERE T.b = S.b AND T.ts BETWEEN S.ts - INTERVAL '1' SECOND AND S.ts + INTERVAL '2' SECOND GROUP BY S.a, window(S.ts, '4 seconds')) AS r ON l.y = r.y
-- bounded: 49999992

-- rows of a window
SELECT S.a, S.v, S.ts FROM S JOIN (SELECT MAX(v) AS x, window.end AS y FROM S GROUP BY window(ts, '4 seconds')) AS r ON S.v = r.x WHERE S.ts BETWEEN r.y - INTERVAL '4' SECOND AND r.y
-- bounded: 8000000

-- rows before a window
SELECT S.a, r.n FROM S JOIN (SELECT window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM T GROUP BY window(ts, '4 seconds')) AS r ON S.ts < r.z AND S.ts >= r.z - INTERVAL '3' SECOND
-- bounded: 14000000

-- rows that no window has
SELECT S.a, S.ts FROM S LEFT ANTI JOIN (SELECT b, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM T GROUP BY b, window(ts, '4 seconds')) AS r ON S.ts >= r.z AND S.ts < r.y AND S.b = r.b
-- bounded: 8000004

-- a view first
SELECT S.a, r.n FROM (SELECT window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM T GROUP BY window(ts, '4 seconds')) AS r JOIN S ON S.ts >= r.z AND S.ts < r.y
-- bounded: 8000000

-- three
SELECT l.a, l.n, r.n AS m, m.t FROM (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY a, window(ts, '4 seconds')) AS l JOIN (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM T GROUP BY a, window(ts, '4 seconds')) AS r ON l.z = r.z AND l.a = r.a JOIN (SELECT b, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM T GROUP BY b, window(ts, '4 seconds')) AS m ON m.z = r.z
-- bounded: 39999998

-- an aggregate of a join
SELECT j.z, COUNT(*) AS n, MAX(j.n) AS x FROM (SELECT l.z, l.n, r.t FROM (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY a, window(ts, '4 seconds')) AS l JOIN (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM T GROUP BY a, window(ts, '4 seconds')) AS r ON l.z = r.z AND l.n <= r.n) AS j GROUP BY j.z
-- bounded: 39999991

-- an aggregate of groups
SELECT x.z, x.n, COUNT(*) AS k, SUM(x.t) AS t FROM (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY a, window(ts, '4 seconds')) AS x GROUP BY x.z, x.n
-- bounded: 15999996

-- least and different
SELECT x.y, MIN(x.t) AS l, COUNT(DISTINCT x.n) AS d FROM (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY a, window(ts, '4 seconds', '2 seconds')) AS x GROUP BY x.y
-- bounded: 47999990

-- first of a join
SELECT * FROM (SELECT l.a, l.z, r.n, ROW_NUMBER() OVER (PARTITION BY l.z ORDER BY r.n DESC, l.a) AS place FROM (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY a, window(ts, '4 seconds')) AS l JOIN (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM T GROUP BY a, window(ts, '4 seconds')) AS r ON l.z = r.z) WHERE place <= 2
-- bounded: 63999999999996

-- a join of ranks
SELECT l.a, l.place, r.n FROM (SELECT x.a, x.z, RANK() OVER (PARTITION BY x.z ORDER BY x.n DESC) AS place FROM (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY a, window(ts, '4 seconds')) AS x) AS l JOIN (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM T GROUP BY a, window(ts, '4 seconds')) AS r ON l.z = r.z AND l.a = r.a WHERE l.place <= 3
-- bounded: 39999990

-- first rows of each window
SELECT * FROM (SELECT a, v, window_start AS z, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY v DESC, ts) AS place FROM TUMBLE(TABLE S, DESCRIPTOR(ts), INTERVAL '4' SECONDS)) WHERE place <= 2
-- bounded: 2

-- rows of windows that overlap
SELECT a, v, window_end AS y, COUNT(*) OVER (PARTITION BY window_end, a) AS n FROM HOP(TABLE S, DESCRIPTOR(ts), INTERVAL '2' SECONDS, INTERVAL '5' SECONDS) WHERE v > 0
-- bounded: 29999994

-- a join of rows in windows
SELECT l.v, r.v AS w, l.window_start AS z FROM (SELECT * FROM TUMBLE(TABLE S, DESCRIPTOR(ts), INTERVAL '4' SECONDS)) AS l JOIN (SELECT * FROM TUMBLE(TABLE T, DESCRIPTOR(ts), INTERVAL '4' SECONDS)) AS r ON l.a = r.a AND l.window_start = r.window_start AND l.window_end = r.window_end
-- bounded: 15999996

-- rows of windows without a partner
SELECT l.v, l.window_start AS z FROM (SELECT * FROM TUMBLE(TABLE S, DESCRIPTOR(ts), INTERVAL '4' SECONDS)) AS l WHERE NOT EXISTS (SELECT 1 FROM (SELECT * FROM TUMBLE(TABLE T, DESCRIPTOR(ts), INTERVAL '4' SECONDS)) AS r WHERE l.a = r.a AND l.window_start = r.window_start)
-- bounded: 15999996

-- the window before, by order
SELECT x.z, x.n, LAG(x.n) OVER (ORDER BY x.z) AS before FROM (SELECT window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY window(ts, '4 seconds')) AS x
-- bounded: 3

-- two groups before
SELECT x.z, x.a, x.n - LAG(x.n, 2) OVER (ORDER BY x.z, x.n DESC, x.a) AS more FROM (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY a, window(ts, '4 seconds', '2 seconds')) AS x
-- bounded: 31999994

-- the mean of three windows
SELECT x.y, x.b, AVG(x.n) OVER (PARTITION BY x.b ORDER BY x.y ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS m FROM (SELECT b, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY b, window(ts, '4 seconds')) AS x WHERE x.b IS NOT NULL
-- bounded: 12

-- the window before, of rows that come late
SELECT x.y, LAG(x.n) OVER (ORDER BY x.y, x.a) AS before FROM (SELECT S.a, window.end AS y, COUNT(*) AS n FROM S, T WHERE T.b = S.b AND T.ts BETWEEN S.ts - INTERVAL '1' SECOND AND S.ts + INTERVAL '2' SECOND GROUP BY S.a, window(S.ts, '4 seconds')) AS x
-- bounded: 29999997

-- windows of differences
SELECT d.z, MAX(d.more) AS most FROM (SELECT x.z, x.n - LAG(x.n) OVER (ORDER BY x.z, x.a) AS more FROM (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY a, window(ts, '4 seconds')) AS x) AS d GROUP BY d.z
-- bounded: 23999996

-- rows in windows
SELECT a, ts, window_start AS z, window_end AS y FROM HOP(TABLE S, DESCRIPTOR(ts), INTERVAL '2' SECONDS, INTERVAL '5' SECONDS)
-- bounded: 0

-- the busiest window of each key
SELECT x.b, MAX(x.n) AS most, MIN(x.t) AS least, SUM(x.n) AS n FROM (SELECT a, b, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY a, b, window(ts, '4 seconds')) AS x GROUP BY x.b
-- bounded: 23999998

-- the busiest window
SELECT MAX(x.n) AS most, MIN(x.t + x.n) AS least FROM (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY a, window(ts, '4 seconds', '2 seconds')) AS x
-- bounded: 47999989

-- the busiest window that may change late
SELECT MIN(x.n) AS least, MAX(x.a) AS a FROM (SELECT S.a, window.end AS y, COUNT(*) AS n FROM S, T WHERE T.b = S.b AND T.ts BETWEEN S.ts - INTERVAL '1' SECOND AND S.ts + INTERVAL '2' SECOND GROUP BY S.a, window(S.ts, '4 seconds')) AS x
-- bounded: 41999995

-- the most of some windows
SELECT x.n, MAX(x.t) AS t FROM (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY a, window(ts, '4 seconds')) AS x WHERE x.n IN (1, 2) GROUP BY x.n
-- bounded: 15999998

-- windows of rows without a partner
SELECT window.start AS z, COUNT(*) AS n FROM S WHERE NOT EXISTS (SELECT 1 AS one FROM T WHERE T.a = S.a AND T.ts BETWEEN S.ts - INTERVAL '1' SECOND AND S.ts + INTERVAL '2' SECOND) GROUP BY window(S.ts, '4 seconds')
-- bounded: 6000002

-- windows of rows with a partner
SELECT window.end AS y, S.a, SUM(S.v) AS t FROM S LEFT SEMI JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts - INTERVAL '1' SECOND AND S.ts + INTERVAL '2' SECOND GROUP BY S.a, window(S.ts, '4 seconds', '2 seconds')
-- bounded: 29999996

-- windows of a left join
SELECT window.start AS z, S.b, COUNT(T.v) AS n, SUM(T.v) AS t, MAX(T.v + S.v) AS m FROM S LEFT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts - INTERVAL '1' SECOND AND S.ts + INTERVAL '2' SECOND GROUP BY S.b, window(S.ts, '4 seconds', '2 seconds')
-- bounded: 48000014000012

-- windows of a right join
SELECT window.start AS z, T.a, COUNT(S.v) AS n, COUNT(*) AS k FROM S RIGHT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts - INTERVAL '1' SECOND AND S.ts + INTERVAL '2' SECOND GROUP BY T.a, window(T.ts, '3 seconds')
-- bounded: 13999998

-- rows of a left join, each with what it is joined with
SELECT S.a, S.v, COUNT(T.v) AS n, MAX(S.v) AS m FROM S LEFT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts - INTERVAL '1' SECOND AND S.ts + INTERVAL '2' SECOND GROUP BY S.a, S.v, window(S.ts, '4 seconds')
-- bounded: 21999998

-- rows of windows that overlap, each with what it is joined with
SELECT S.a, window.end AS y, SUM(T.v) AS t FROM S LEFT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts - INTERVAL '1' SECOND AND S.ts + INTERVAL '2' SECOND GROUP BY S.a, window(S.ts, '4 seconds', '2 seconds')
-- bounded: 29999996

-- groups, each with what it is joined with
SELECT l.z, l.a + l.n AS k, COUNT(r.n) AS n FROM (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY a, window(ts, '4 seconds')) AS l LEFT JOIN (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM T GROUP BY a, window(ts, '4 seconds')) AS r ON l.z = r.z GROUP BY l.z, l.a + l.n
-- bounded: 39999990

-- minutes of a left join
SELECT date_trunc('minute', S.ts) AS z, COUNT(T.v) AS n, MIN(S.v) AS m FROM S LEFT JOIN T ON T.a = S.a AND T.ts BETWEEN S.ts - INTERVAL '1' SECOND AND S.ts + INTERVAL '2' SECOND GROUP BY date_trunc('minute', S.ts)
-- bounded: 10000002

-- minutes of windows
SELECT date_trunc('minute', x.z) AS m, MAX(x.n) AS n, COUNT(*) AS k FROM (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY a, window(ts, '4 seconds')) AS x GROUP BY date_trunc('minute', x.z)
-- bounded: 15999998

-- minutes of ends of windows
SELECT date_trunc('minute', x.y) AS m, x.b, MIN(x.t) AS n, AVG(x.n) AS k FROM (SELECT a, b, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY a, b, window(ts, '4 seconds', '2 seconds')) AS x GROUP BY date_trunc('minute', x.y), x.b
-- bounded: 32000000

-- all that ever was
SELECT COUNT(*) AS n, SUM(x.t) AS t FROM (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY a, window(ts, '4 seconds')) AS x
-- bounded: 7999999

-- all of a join
SELECT COUNT(r.n) AS n FROM (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY a, window(ts, '4 seconds')) AS l LEFT JOIN (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM T GROUP BY a, window(ts, '4 seconds')) AS r ON l.z = r.z
-- bounded: 23999996

-- calendar
SELECT l.z, l.n, r.n AS m FROM (SELECT date_trunc('minute', ts) AS z, a, COUNT(*) AS n FROM S GROUP BY date_trunc('minute', ts), a) AS l JOIN (SELECT date_trunc('minute', ts) AS z, a, COUNT(*) AS n FROM T GROUP BY date_trunc('minute', ts), a) AS r ON l.z = r.z AND l.a = r.a
-- bounded: 479999992

-- sessions
-- recheck cannot follow: what it is told without a proof
SELECT l.a, l.y, l.n FROM (SELECT a, session_window.start AS z, session_window.end AS y, COUNT(*) AS n FROM S GROUP BY a, session_window(ts, '2 seconds')) AS l JOIN (SELECT a, session_window.start AS z, session_window.end AS y, COUNT(*) AS n FROM T GROUP BY a, session_window(ts, '2 seconds')) AS r ON l.y = r.y AND l.n <= r.n
-- bounded: 16000000

-- What does not close.
--

SELECT l.n, r.n AS m FROM (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY a, window(ts, '4 seconds')) AS l JOIN (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM T GROUP BY a, window(ts, '4 seconds')) AS r ON l.a = r.a
-- unbounded

SELECT l.n, r.n AS m FROM (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY a, window(ts, '4 seconds')) AS l JOIN (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM T GROUP BY a, window(ts, '4 seconds')) AS r ON l.z <= r.z
-- unknown

SELECT S.a, r.n FROM S JOIN (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM T GROUP BY a, window(ts, '4 seconds')) AS r ON S.a = r.a
-- unbounded

SELECT S.a, r.n FROM S JOIN (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM T GROUP BY a, window(ts, '4 seconds')) AS r ON S.ts > r.y
-- unknown

SELECT x.a, COUNT(*) AS n FROM (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY a, window(ts, '4 seconds')) AS x GROUP BY x.a
-- unbounded

SELECT x.a, MAX(x.n) AS n FROM (SELECT a, window.start AS z, window.end AS y, COUNT(*) AS n, SUM(v) AS t FROM S GROUP BY a, window(ts, '4 seconds')) AS x GROUP BY x.a
-- unbounded

-- Groups of windows of time.
--

SELECT window.start AS z, a, COUNT(*) AS n, SUM(v) AS total, MIN(v) AS least, COUNT(DISTINCT v) AS different FROM S GROUP BY a, window(ts, '4 seconds')
-- bounded: 15999996

SELECT window.end AS z, COUNT(*) AS n, SUM(v) AS total, MIN(v) AS least, COUNT(DISTINCT v) AS different FROM S GROUP BY window(ts, '4 seconds', '4 seconds', '1 second')
-- bounded: 7999999

SELECT a, window.start AS z, COUNT(*) AS n, SUM(v) AS total, MIN(v) AS least, COUNT(DISTINCT v) AS different FROM S GROUP BY a, window(ts, '5 seconds', '2 seconds')
-- bounded: 59999988

SELECT window.end AS z, window.start AS y, COUNT(*) AS n, SUM(v) AS total, MIN(v) AS least, COUNT(DISTINCT v) AS different FROM S GROUP BY window(ts, '6 seconds', '3 seconds')
-- bounded: 23999998

SELECT window.start AS z, MAX(v) FILTER (WHERE a > 2) AS x FROM S GROUP BY window(ts, '4 seconds')
-- bounded: 1

SELECT a, session_window.start AS z, session_window.end AS y, COUNT(*) AS n, SUM(v) AS t, MAX(v) AS x FROM S GROUP BY a, session_window(ts, '2 seconds')
-- bounded: 4000000

SELECT session_window.start AS z, session_window.end AS y, COUNT(DISTINCT b) AS n FROM S GROUP BY session_window(ts, '2 seconds')
-- bounded: 20000000

SELECT window_start, window_end, SUM(v) AS t FROM TUMBLE(TABLE S, DESCRIPTOR(ts), INTERVAL '4' SECONDS) WHERE v > 1 GROUP BY window_start, window_end
-- bounded: 1

-- as RisingWave writes it
SELECT window_start, window_end, SUM(v) AS t FROM TUMBLE(S, ts, INTERVAL '4 SECONDS') WHERE v > 1 GROUP BY window_start, window_end
-- bounded: 1

SELECT ts AS z, a, COUNT(*) AS n, SUM(v) AS total, MIN(v) AS least, COUNT(DISTINCT v) AS different FROM S GROUP BY ts, a
-- bounded: 0

SELECT window.start AS z, S.a, T.b, COUNT(*) AS n, SUM(S.v * T.v) AS t FROM S, T WHERE S.b = T.b AND T.ts BETWEEN S.ts - INTERVAL '3' SECOND AND S.ts + INTERVAL '2' SECOND GROUP BY window(S.ts, '4 seconds'), S.a, T.b
-- bounded: 21999998

SELECT window.start AS z, S.a, T.a AS y, COUNT(*) AS n FROM S, T WHERE S.b = T.b AND T.ts BETWEEN S.ts - INTERVAL '3' SECOND AND S.ts + INTERVAL '2' SECOND GROUP BY window(S.ts, '4 seconds', '2 seconds'), S.a, T.a
-- bounded: 240000017999992

SELECT window.start AS z, S.a, T.b, COUNT(*) AS n FROM S, T WHERE T.ts < S.ts AND S.b = T.b GROUP BY window(S.ts, '4 seconds'), S.a, T.b
-- bounded: 8000001

SELECT S.b, session_window.start AS z, session_window.end AS y, COUNT(*) AS n FROM S, T WHERE S.b = T.b AND T.ts BETWEEN S.ts - INTERVAL '3' SECOND AND S.ts + INTERVAL '2' SECOND GROUP BY S.b, session_window(S.ts, '1 second')
-- bounded: 16000000

-- Groups of what is no window of time.
--

SELECT window.start AS z, COUNT(*) AS n FROM S, T WHERE S.a = T.a GROUP BY window(S.ts, '4 seconds')
-- unbounded

SELECT hour(ts) AS z, a, COUNT(*) AS n FROM S GROUP BY hour(ts), a
-- unbounded

SELECT a, session_window.start AS z, session_window.end AS y, COUNT(DISTINCT v) AS n FROM S GROUP BY a, session_window(ts, '2 seconds')
-- unknown

-- Keys and times that are computed.
--

-- a key twice
SELECT b, b AS c, COUNT(*) AS n, MAX(v) AS m FROM S GROUP BY b, b
-- bounded: 4

-- a key twice of a join
SELECT S.b, S.b AS c, SUM(T.v) AS n FROM S JOIN T ON S.b = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL '2' SECOND GROUP BY S.b, S.b
-- bounded: 4000003

-- rows of each bucket by another key
SELECT b, COUNT(*) AS n, MAX(v) AS m FROM HOP(TABLE S, DESCRIPTOR(ts), INTERVAL '2' SECONDS, INTERVAL '5' SECONDS) GROUP BY b
-- bounded: 4

-- rows of all buckets
SELECT COUNT(*) AS n FROM HOP(TABLE S, DESCRIPTOR(ts), INTERVAL '2' SECONDS, INTERVAL '5' SECONDS)
-- bounded: 1

-- a key that is computed of an end
SELECT window_end + INTERVAL '1' HOUR AS y, COUNT(*) AS n, MAX(v) AS m FROM HOP(TABLE S, DESCRIPTOR(ts), INTERVAL '2' SECONDS, INTERVAL '5' SECONDS) GROUP BY window_end + INTERVAL '1' HOUR
-- bounded: 3

-- buckets of a computed time
-- recheck cannot follow: what it is told without a proof
SELECT window.start AS z, MAX(q.n) AS m FROM (SELECT b, window.start AS z, COUNT(*) AS n FROM S GROUP BY b, window(ts, '4 seconds')) q GROUP BY window(q.z + INTERVAL '1' SECOND, '8 seconds')
-- bounded: 10

-- LAG with NULL as its default
SELECT a, LAG(v, 1, NULL) OVER (PARTITION BY b ORDER BY ts, a, v) AS x FROM S
-- bounded: 4

-- Joins that nothing satisfies have the rows of their sides in columns of their types.
--

SELECT S.b, COUNT(T.b) AS n, SUM(T.v) AS t FROM S LEFT JOIN T ON S.a = T.v AND S.a < T.v GROUP BY S.b
-- bounded: 4

SELECT S.b, COUNT(T.b) AS n, SUM(T.v) AS t FROM S FULL JOIN T ON S.a = T.v AND S.a < T.v GROUP BY S.b
-- bounded: 4

SELECT S.b, COUNT(*) AS n FROM S LEFT ANTI JOIN T ON S.a = T.v AND S.a < T.v GROUP BY S.b
-- bounded: 4

-- In another order a row may come before any closed one.
--

SELECT x.z, LAG(x.n) OVER (ORDER BY x.n, x.z) AS l FROM (SELECT a, window.start AS z, COUNT(*) AS n FROM S GROUP BY a, window(ts, '4 seconds')) AS x
-- unknown

-- groups of which nothing is read
SELECT COUNT(*) AS n FROM (SELECT COUNT(DISTINCT T.b) AS m FROM S JOIN T ON S.a = T.b AND T.ts BETWEEN S.ts AND S.ts + INTERVAL '2' SECOND) q
-- bounded: 4000002

-- now() is the newest row's time.
--

SELECT a, COUNT(*) AS n FROM S WHERE ts > now() - INTERVAL 3 SECONDS GROUP BY a
-- bounded: 12000001

SELECT S.a, T.v FROM S JOIN T ON S.a = T.a WHERE S.ts >= current_timestamp - INTERVAL 3 SECONDS AND T.ts > now() - INTERVAL 2 SECONDS
-- bounded: 20000006

-- not in DuckDB: a window is two columns
SELECT window(ts, '4 seconds') AS w, b, COUNT(*) AS n FROM S GROUP BY window(ts, '4 seconds'), b
-- bounded: 4

-- not in DuckDB: a window is two columns, of each side
SELECT window(ts, '4 seconds') AS w, v FROM S WHERE v > 0 UNION ALL SELECT window(ts, '2 seconds'), v FROM T WHERE v < 2
-- bounded: 0

-- not in DuckDB: an end of a window is called as it is
SELECT w.end, COUNT(*) AS n FROM (SELECT window(ts, '4 seconds') AS w, b FROM S) AS q GROUP BY w
-- bounded: 1

-- not in DuckDB: windows that grow by a step, of another key
SELECT a, window_end, MAX(v) AS m FROM CUMULATE(TABLE S, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '6' SECOND) AS c GROUP BY a, c.window_start, c.window_end
-- bounded: 35999994

-- not in DuckDB: months of years
SELECT a, YEAR(ts) AS y, MONTH(ts) AS m, SUM(v) AS s FROM S GROUP BY a, YEAR(ts), MONTH(ts)
-- bounded: 5356799999998

-- not in DuckDB: days of months
SELECT a, DAY(S.ts) AS d, COUNT(*) AS n FROM S WHERE a > 0 GROUP BY a, EXTRACT(YEAR FROM S.ts), MONTH(S.ts), DAY(S.ts)
-- bounded: 172799999998

-- parts of two times
SELECT YEAR(S.ts) AS y, MONTH(T.ts) AS m, COUNT(*) AS n FROM S JOIN T ON S.a = T.a AND T.ts BETWEEN S.ts AND S.ts + INTERVAL 1 HOUR WHERE S.a IN (1, 2) GROUP BY YEAR(S.ts), MONTH(T.ts)
-- bounded: 822283199999974

-- not in DuckDB: a time that FLOOR rounds
SELECT a, FLOOR(ts TO MINUTE) AS t, COUNT(*) AS n FROM S GROUP BY a, FLOOR(ts TO MINUTE)
-- bounded: 119999998

-- ksqlDB's windows.
--

SELECT a, WINDOWSTART AS w, COUNT(*) AS n FROM S WINDOW TUMBLING (SIZE 10 SECONDS) GROUP BY a
-- bounded: 19999998

SELECT a, WINDOWEND, SUM(v) AS m FROM S AS s WINDOW HOPPING (SIZE 10 SECONDS, ADVANCE BY 5 SECONDS) WHERE v > 0 GROUP BY a HAVING COUNT(*) > 1
-- bounded: 39999996

SELECT a, COUNT(*) AS n FROM S WINDOW SESSION (2 SECONDS) GROUP BY a
-- bounded: 4000000

-- an end of a window as a key
SELECT window(ts, '10 seconds').start AS w, v % 2 AS odd, COUNT(*) AS n FROM S GROUP BY 1, 2
-- bounded: 4

-- IN as a value.
--

SELECT S.a, S.v IN (SELECT T.v FROM T WHERE T.b = S.b AND T.ts BETWEEN S.ts - INTERVAL 3 SECONDS AND S.ts) AS known FROM S
-- bounded: 36000000

SELECT S.b, CASE WHEN S.v NOT IN (SELECT T.v FROM T WHERE T.ts BETWEEN S.ts - INTERVAL 2 SECONDS AND S.ts AND T.a > 2) THEN 'new' ELSE 'old' END AS k FROM S WHERE S.a < 3
-- bounded: 16000000

-- not in DuckDB: sessions that end with a longer bucket
SELECT a, unix_timestamp(ts) DIV 8 AS w, session_window(ts, '3 seconds').start AS s, COUNT(*) AS n
FROM S GROUP BY a, unix_timestamp(ts) DIV 8, session_window(ts, '3 seconds')
-- bounded: 6000000

-- not in DuckDB: seconds, divided
SELECT unix_timestamp(ts) DIV 4 AS w, a, SUM(v) AS s FROM S GROUP BY unix_timestamp(ts) DIV 4, a
-- bounded: 15999996

-- IN of several columns, as a value
SELECT S.a, (S.v, S.a) NOT IN (SELECT T.v, T.a FROM T WHERE T.ts BETWEEN S.ts - INTERVAL 3 SECONDS AND S.ts) AS new FROM S
-- bounded: 24000000

-- not in DuckDB: groups by a struct
SELECT b, COUNT(*) AS n, MAX(v) AS m FROM S GROUP BY STRUCT(b, v % 2)
-- bounded: 16

-- not in DuckDB: groups by so many rows
SELECT a, n DIV 3 AS k, SUM(v) AS s, MIN(ts) AS began FROM (SELECT b, a, ts, v, COUNT(*) OVER (PARTITION BY b ORDER BY ts) AS n FROM S WHERE b > 0) AS x GROUP BY b, n DIV 3, a
-- unknown

-- not in DuckDB: groups by so many rows, and nothing else
SELECT b, n DIV 3 AS k, SUM(v) AS s, COUNT(DISTINCT b) AS d FROM (SELECT b, v, COUNT(*) OVER (PARTITION BY b ORDER BY ts) AS n FROM S WHERE b > 0) AS x GROUP BY b, n DIV 3
-- bounded: 6

-- LATERAL with aggregates.
--

SELECT S.a, q.n, q.m FROM S JOIN LATERAL (SELECT COUNT(*) AS n, MAX(T.v) AS m FROM T WHERE T.b = S.b AND T.ts BETWEEN S.ts - INTERVAL 3 SECONDS AND S.ts) AS q ON TRUE WHERE S.v > q.n
-- bounded: 24000000

SELECT S.a, q.n FROM S CROSS JOIN LATERAL (SELECT COUNT(*) AS n FROM T WHERE T.b = S.b AND T.ts <= S.ts) AS q
-- bounded: 4

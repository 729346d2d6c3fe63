-- a window
SELECT T.a, S.a AS sa FROM S, T WHERE S.ts > T.ts AND S.ts <= T.ts + 3

-- a window and a range
SELECT T.a FROM S, T WHERE S.ts > T.ts AND S.ts <= T.ts + 3 AND T.a BETWEEN 1 AND 2

-- a wait
SELECT T.a FROM S, T WHERE S.ts > T.ts + 3 AND T.a BETWEEN 1 AND 2

-- two windows in a chain
SELECT U.a FROM S, T, U WHERE S.ts BETWEEN T.ts + 1 AND T.ts + 2 AND T.ts BETWEEN U.ts + 1 AND U.ts + 2

-- clipped from below
SELECT 1 AS one FROM S, T WHERE S.ts > T.ts AND T.a < S.a AND T.a < 9 AND S.a > 1

-- clipped from above
SELECT 1 AS one FROM S, T WHERE S.ts > T.ts AND S.a < T.a AND T.a > 0 AND S.a < 7

-- unrelated streams
SELECT S.a, T.a AS ta FROM S, T WHERE S.a BETWEEN 1 AND 2 AND T.a BETWEEN 1 AND 3

-- a finite stream
SELECT T.a, S.a AS sa FROM S, T WHERE S.ts > T.ts AND T.ts < 6

-- a stream before it ends
SELECT T.a FROM S, T WHERE S.ts > T.ts AND S.ts < 6

-- a range between extremes
SELECT T.a FROM S, T, R WHERE S.ts > T.ts AND T.a > R.a AND T.a < R.b

-- a range between a finite stream's values
SELECT T.a FROM S, T, U WHERE S.ts > T.ts AND U.ts < 4 AND U.ts < T.ts AND T.a > U.a AND T.a < U.b

-- clipped to a finite stream's values
SELECT 1 AS one FROM S, T, U WHERE S.ts > T.ts AND U.ts < 4 AND U.ts < T.ts AND T.a > S.a AND T.a > U.a AND S.a < U.b

-- rows of a relation
SELECT T.a, R.b FROM S, T, R WHERE S.ts > T.ts AND T.a = R.a

-- clipped to a relation
SELECT 1 AS one FROM S, T, R WHERE S.ts > T.ts AND T.a < S.a AND T.a = R.a AND S.a > 3

-- results of a set
SELECT DISTINCT S.a, T.a AS ta FROM S, T WHERE S.ts > T.ts AND S.a = T.a AND T.a IN (1, 4, 7)

-- times of an older stream
SELECT T.ts, T.a FROM S, T WHERE S.ts > T.ts AND S.ts <= T.ts + 3

-- times of windows both ways
SELECT S.ts, T.ts AS t FROM S, T WHERE S.ts <= T.ts + 2 AND T.ts <= S.ts + 2

-- a set of distances
SELECT DISTINCT S.ts - T.ts AS d FROM S, T WHERE S.ts > T.ts AND S.ts <= T.ts + 3

-- [streams.S]
-- timestamp = "ts"
-- columns = { a = "bigint", b = "bigint", x = "double", s = "string", d = "decimal(9,2)", f = "boolean", day = "date", ts = "bigint" }
-- [streams.T]
-- timestamp = "ts"
-- columns = { a = "bigint", c = "bigint", s = "string", n = "decimal", ts = "bigint" }
-- [streams.U]
-- timestamp = "ts"
-- columns = { c = "bigint", e = "bigint", ts = "bigint" }
-- [streams.E]
-- timestamp = "at"
-- columns = { k = "bigint", seen = "timestamp", born = "date", blob = "binary", at = "timestamp" }
-- [streams.G]
-- timestamp = "at"
-- columns = { k = "bigint", seen = "timestamp", born = "date", at = "timestamp" }
-- [relations.R]
-- columns = { a = "bigint", name = "string" }

-- Forms of Spark's and Flink's SQL.
--

SELECT window, COUNT(*) FROM S GROUP BY window(ts, '10 seconds')
-- bounded

SELECT window.start AS s FROM S GROUP BY window(ts, '10 seconds', '5 seconds'), a
-- bounded

SELECT COUNT(*) FROM S GROUP BY session_window(ts, '10 seconds')
-- bounded

SELECT a FROM (SELECT a, ROW_NUMBER() OVER (PARTITION BY a ORDER BY ts DESC) AS rn FROM S) WHERE rn = 1
-- unbounded: SB201 1:58-59 "a"

WITH r AS (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY ts) AS rn FROM S) SELECT r.a FROM r WHERE r.rn <= 3
-- unbounded: SB201 1:54-55 "a"

SELECT SUM(a) OVER (PARTITION BY b ORDER BY ts RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW) FROM S
-- bounded: SB208 1:8-106 "SUM(a) OVER (PARTITION BY b ORDER BY ts RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW)"

SELECT * FROM TABLE(TUMBLE(TABLE S, DESCRIPTOR(ts), INTERVAL '10' SECOND))
-- bounded

SELECT * FROM HOP(TABLE S, DESCRIPTOR(ts), INTERVAL '1' SECOND, INTERVAL '10' SECOND) AS h
-- bounded

SELECT * FROM TABLE(CUMULATE(DATA => TABLE S, TIMECOL => DESCRIPTOR(ts), STEP => INTERVAL '1' SECOND, SIZE => INTERVAL '10' SECOND))
-- bounded

SELECT * FROM TABLE(SESSION(TABLE S, DESCRIPTOR(ts), INTERVAL '1' SECOND))
-- unsupported: SB110 1:15-75 "TABLE(SESSION(TABLE S, DESCRIPTOR(ts), INTERVAL '1' SECOND))"

SELECT * FROM TABLE(SESSION(TABLE S PARTITION BY a, DESCRIPTOR(ts), INTERVAL '1' SECOND))
-- unsupported: SB110 1:15-90 "TABLE(SESSION(TABLE S PARTITION BY a, DESCRIPTOR(ts), INTERVAL '1' SECOND))"

SELECT S.a FROM S JOIN T FOR SYSTEM_TIME AS OF S.ts AS t2 ON t2.a = S.a
-- unsupported: SB110 1:48-52 "S.ts"

SELECT * FROM S MATCH_RECOGNIZE (PARTITION BY a ORDER BY ts MEASURES A.b AS x ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN (A B+) WITHIN INTERVAL '1' HOUR DEFINE B AS B.b > A.b) AS m
-- unsupported: SB110 1:17-32 "MATCH_RECOGNIZE"

SELECT S.a FROM S, LATERAL TABLE(f(S.a)) AS t(x)
-- unsupported: SB110 1:20-49 "LATERAL TABLE(f(S.a)) AS t(x)"

SELECT a, COUNT(*) FROM S GROUP BY a EMIT AFTER WATERMARK
-- unsupported: SB110 1:38-42 "EMIT"

SELECT q.a FROM (SELECT a FROM S EMIT FINAL) AS q
-- unsupported: SB110 1:34-38 "EMIT"

SELECT a, COUNT(*) FROM S WINDOW TUMBLING (SIZE 1 MINUTE) GROUP BY a EMIT CHANGES
-- bounded

SELECT a, COUNT(*) FROM S WINDOW TUMBLING (SIZE 1 MINUTE, GRACE PERIOD 1 HOUR) GROUP BY a EMIT CHANGES
-- unsupported: SB110 1:27-33 "WINDOW"

SELECT a FROM S WATERMARK ts DELAY OF INTERVAL 10 SECONDS AS w WHERE a > 3
-- unsupported: SB110 1:17-26 "WATERMARK"

SELECT a FROM S WHERE a IN (TABLE T)
-- unsupported: SB110 1:29-34 "TABLE"

TABLE S
-- unsupported: SB110 1:1-6 "TABLE"

MERGE INTO t USING S ON t.a = S.a WHEN MATCHED THEN UPDATE SET *
-- unsupported: SB110 1:1-6 "MERGE"

EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT a FROM S
-- unsupported: SB110 1:1-8 "EXECUTE"

WITH w AS (SELECT a FROM S) INSERT INTO t SELECT a FROM w
-- unsupported: SB110 1:29-35 "INSERT"

FROM S INSERT INTO t SELECT a
-- unsupported: SB110 1:8-14 "INSERT"

-- A form hides no syntax error.
--

SELECT a FROM S WHER a > 3 EMIT CHANGES
-- error: SB001 1:22-23 "a"

SELECT a FROM S WHERE EMIT CHANGES
-- error: SB001 1:17-22 "WHERE"

SELECT * FROM S MATCH_RECOGNIZE (PARTITION BY a) WHERE
-- error: SB001 1:47-48 "a"

SELECT a FROM S WATERMARK ts
-- error: SB001 1:27-29 "ts"

SELECT a FROM S GROUP BY window(ts, '10 seconds'
-- error: SB001 1:37-49 "'10 seconds'"

-- The words of forms are names elsewhere.
--

SELECT a AS emit FROM S
-- bounded

SELECT watermark.a FROM S AS watermark
-- bounded

SELECT window.a FROM S AS window
-- bounded

SELECT a session FROM S
-- bounded

-- Statements whose query is not read do not pass.
--

CREATE VIEW v SELECT a FROM S
-- error: SB001 1:15-21 "SELECT"

CREATE VIEW v AS
-- error: SB001 1:15-17 "AS"

CREATE VIEW v
-- error: SB001 1:13-14 "v"

CREATE VIEW v AS SELCT a FROM S
-- error: SB001 1:18-23 "SELCT"

CREATE TABLE t (SELECT a FROM S)
-- error: SB001 1:17-23 "SELECT"

INSERT INTO t
-- error: SB001 1:13-14 "t"

INSERT INTO t SELECT a FROM S WHERE
-- error: SB001 1:31-36 "WHERE"

DROP
-- error: SB001 1:1-5 "DROP"

EXPLAIN SELECT a FROM S
-- unsupported: SB110 1:1-8 "EXPLAIN"

DELETE FROM t WHERE a IN (SELECT a FROM S)
-- unsupported: SB110 1:27-33 "SELECT"

CREATE FUNCTION f() RETURNS INT RETURN SELECT MAX(a) FROM S
-- unsupported: SB110 1:40-46 "SELECT"

INSERT INTO t TABLE S
-- unsupported: SB110 1:15-20 "TABLE"

-- Statements without a query.
--

CREATE TABLE t (a INT, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'kafka')
-- no-query: SB403 1:1-7 "CREATE"

DROP VIEW v
-- no-query: SB403 1:1-5 "DROP"

SET spark.x = 'SELECT'
-- no-query: SB403 1:1-4 "SET"

RESET
-- no-query: SB403 1:1-6 "RESET"

USE db
-- no-query: SB403 1:1-4 "USE"

ALTER TABLE t ADD COLUMN x INT
-- no-query: SB403 1:1-6 "ALTER"

CACHE TABLE t
-- no-query: SB403 1:1-6 "CACHE"

CLEAR CACHE
-- no-query: SB403 1:1-6 "CLEAR"

REFRESH TABLE t
-- no-query: SB403 1:1-8 "REFRESH"

DESCRIBE t
-- no-query: SB403 1:1-9 "DESCRIBE"

SHOW TABLES
-- no-query: SB403 1:1-5 "SHOW"

INSERT INTO t VALUES (1, 2)
-- no-query: SB403 1:1-7 "INSERT"

TRUNCATE TABLE t
-- no-query: SB403 1:1-9 "TRUNCATE"

CREATE FUNCTION f AS 'org.F'
-- no-query: SB403 1:1-7 "CREATE"

CREATE DATABASE d
-- no-query: SB403 1:1-7 "CREATE"

CREATE TABLE t LIKE S
-- no-query: SB403 1:1-7 "CREATE"

ADD JAR 'x.jar'
-- no-query: SB403 1:1-8 "ADD JAR"

CALL p()
-- no-query: SB403 1:1-5 "CALL"

MSCK REPAIR TABLE t
-- no-query: SB403 1:1-12 "MSCK REPAIR"

BEGIN STATEMENT SET
-- no-query: SB403 1:1-6 "BEGIN"

END
-- no-query: SB403 1:1-4 "END"

DELETE FROM t WHERE a = 1
-- no-query: SB403 1:1-7 "DELETE"

GRANT ALL ON t TO u
-- no-query: SB403 1:1-6 "GRANT"

-- What asks streams or several rows, or is no relation.
--

SELECT a FROM S WHERE EXISTS (SELECT 1 FROM T WHERE T.a = S.a)
-- unbounded: SB201 1:8-9 "a", SB203 1:55-62 "a = S.a"

SELECT a FROM S WHERE a IN (SELECT T.a FROM R, T)
-- unbounded: SB203 1:23-50 "a IN (SELECT T.a FROM R, T)"

SELECT S.a FROM S, T WHERE EXISTS (SELECT 1 FROM R WHERE R.a = S.a AND R.name = T.s)
-- bounded

SELECT S.a FROM S, T LEFT JOIN R ON R.a = S.a AND R.name = T.s
-- unsupported: SB110 1:32-63 "R ON R.a = S.a AND R.name = T.s"

SELECT S.a FROM S FULL JOIN R ON R.a = S.a
-- bounded

SELECT a FROM S WHERE EXISTS (SELECT 1 FROM R WHERE R.nothing = S.a)
-- error: SB101 1:53-62 "R.nothing"

SELECT S.a FROM S SEMI JOIN R ON a = 1
-- error: SB103 1:34-35 "a"

SELECT S.a FROM S ANTI JOIN R ON R.a = S.a AND rand() > 0.5
-- unsupported: SB110 1:34-60 "R.a = S.a AND rand() > 0.5"

SELECT a, (SELECT a, name FROM R) AS two FROM S
-- error: SB104 1:12-33 "SELECT a, name FROM R"

SELECT a FROM S WHERE EXISTS (SELECT 1 FROM R WHERE R.a IN (SELECT R.a FROM R, T))
-- unbounded: SB201 1:8-9 "a"

SELECT a FROM S WHERE EXISTS (SELECT 1 FROM R WHERE EXISTS (SELECT 1 FROM R q WHERE q.name = S.s))
-- unsupported: SB110 1:31-98 "SELECT 1 FROM R WHERE EXISTS (SELECT 1 FROM R q WHERE q.name = S.s)"

SELECT a FROM S WHERE EXISTS (SELECT 1 FROM R WHERE R.a IN (SELECT a + rand() FROM R q))
-- unsupported: SB110 1:53-88 "R.a IN (SELECT a + rand() FROM R q)"

SELECT S.a FROM S JOIN (SELECT a FROM R ORDER BY a LIMIT 1) AS k ON k.a = S.a
-- bounded

SELECT S.a FROM S JOIN (SELECT first(a) AS a FROM R) AS k ON k.a = S.a
-- bounded

SELECT S.a FROM S JOIN (SELECT a, T.a AS b FROM T GROUP BY T.a) AS k ON k.a = S.a
-- unbounded: SB201 1:60-63 "T.a", SB203 1:73-82 "k.a = S.a"

SELECT S.a FROM S JOIN (SELECT name, corr(a, a) AS d FROM R GROUP BY name) AS k ON k.name = S.s
-- unsupported: SB110 1:24-80 "(SELECT name, corr(a, a) AS d FROM R GROUP BY name) AS k"

SELECT S.a FROM S JOIN (SELECT a, max(name) AS a FROM R GROUP BY a) AS k ON k.a = S.a
-- error: SB103 1:77-80 "k.a"

SELECT S.a FROM S JOIN (SELECT a, count(*) AS n FROM R WHERE R.a = S.b GROUP BY a) AS k ON k.a = S.a
-- error: SB104 1:32-33 "a"

SELECT a, SUM(b) AS n FROM S GROUP BY a ORDER BY n DESC LIMIT 3
-- unbounded: SB201 1:39-40 "a"

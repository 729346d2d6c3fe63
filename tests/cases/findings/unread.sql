-- [streams.S]
-- timestamp = "ts"
-- columns = { a = "bigint", b = "bigint", ts = "timestamp" }

-- What other engines would give other results for (SB152).
--

SET 'table.exec.state.ttl' = '1 h'
-- no-query: SB403 1:1-4 "SET", SB152 1:1-35 "SET 'table.exec.state.ttl' = '1 h'"

set table.exec.state.ttl = 36000
-- no-query: SB403 1:1-4 "set", SB152 1:1-33 "set table.exec.state.ttl = 36000"

SET TIME ZONE 'Europe/Berlin'
-- no-query: SB403 1:1-4 "SET", SB152 1:1-30 "SET TIME ZONE 'Europe/Berlin'"

SET spark.sql.session.timeZone = America/New_York
-- no-query: SB403 1:1-4 "SET", SB152 1:1-50 "SET spark.sql.session.timeZone = America/New_York"

SET spark.sql.ansi.enabled=false
-- no-query: SB403 1:1-4 "SET", SB152 1:1-33 "SET spark.sql.ansi.enabled=false"

SET spark.sql.legacy.timeParserPolicy = LEGACY
-- no-query: SB403 1:1-4 "SET", SB152 1:1-47 "SET spark.sql.legacy.timeParserPolicy = LEGACY"

CREATE STREAMING TABLE t (CONSTRAINT c EXPECT (f(a, (b)) > 0) ON VIOLATION DROP ROW) AS SELECT a FROM S
-- bounded: SB152 1:27-84 "CONSTRAINT c EXPECT (f(a, (b)) > 0) ON VIOLATION DROP ROW"

CREATE VIEW t (a COMMENT 'x', CONSTRAINT c EXPECT (a > 0) ON VIOLATION FAIL UPDATE) AS SELECT a FROM S
-- bounded: SB152 1:31-83 "CONSTRAINT c EXPECT (a > 0) ON VIOLATION FAIL UPDATE"

CREATE TABLE t WITH ROW FILTER f ON (a) AS SELECT a FROM S
-- bounded: SB152 1:21-33 "ROW FILTER f"

INSERT INTO t /*+ OPTIONS('sink.parallelism' = '2') */ SELECT a FROM S
-- bounded: SB152 1:19-52 "OPTIONS('sink.parallelism' = '2')"

SELECT b FROM S; SET 'table.exec.state.ttl' = '1 h'; SELECT b FROM S
-- bounded / no-query: SB403 1:18-21 "SET", SB152 1:18-52 "SET 'table.exec.state.ttl' = '1 h'" / bounded

SELECT b FROM S; SET spark.sql.session.timeZone = America/New_York; SELECT b FROM S
-- bounded / no-query: SB403 1:18-21 "SET", SB152 1:18-67 "SET spark.sql.session.timeZone = America/New_York" / bounded

SELECT b FROM S; CREATE STREAMING TABLE t (CONSTRAINT c EXPECT (f(a, (b)) > 0) ON VIOLATION DROP ROW) AS SELECT a FROM S; SELECT b FROM S
-- bounded / bounded: SB152 1:44-101 "CONSTRAINT c EXPECT (f(a, (b)) > 0) ON VIOLATION DROP ROW" / bounded

SELECT b FROM S; INSERT INTO t /*+ OPTIONS('sink.parallelism' = '2') */ SELECT a FROM S; SELECT b FROM S
-- bounded / bounded: SB152 1:36-69 "OPTIONS('sink.parallelism' = '2')" / bounded

-- What changes no result.
--

SET 'parallelism.default' = '4'
-- no-query: SB403 1:1-4 "SET"

SET spark.sql.shuffle.partitions = 8
-- no-query: SB403 1:1-4 "SET"

SET TIME ZONE 'UTC'
-- no-query: SB403 1:1-4 "SET"

SET spark.sql.session.timeZone = UTC
-- no-query: SB403 1:1-4 "SET"

SET spark.sql.ansi.enabled = true
-- no-query: SB403 1:1-4 "SET"

SET
-- no-query: SB403 1:1-4 "SET"

RESET table.exec.state.ttl
-- no-query: SB403 1:1-6 "RESET"

SET 'table.exec.state.ttl' = '0 ms'
-- no-query: SB403 1:1-4 "SET"

CREATE STREAMING TABLE t (CONSTRAINT c EXPECT (a > 0)) TBLPROPERTIES ('a' = 'b') PARTITIONED BY (a) AS SELECT a FROM S
-- bounded

CREATE TABLE t (PRIMARY KEY (a) NOT ENFORCED) WITH ('connector' = 'kafka') AS SELECT a FROM S
-- bounded

CREATE VIEW t COMMENT 'CONSTRAINT c EXPECT (a) ON VIOLATION DROP ROW' AS SELECT a FROM S
-- bounded

SELECT a FROM S /* STATE_TTL('S' = '1d') */ -- /*+ OPTIONS('a' = 'b') */
-- bounded

INSERT INTO t PARTITION (d = 'x') SELECT a FROM S WHERE a = length('/*+ OPTIONS(1) */')
-- bounded

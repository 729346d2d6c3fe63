-- a projection
SELECT Z.a FROM Y, Z WHERE Y.ts > Z.ts

-- an equality
SELECT 1 AS one FROM Y, Z WHERE Y.ts > Z.ts AND Y.a = Z.a

-- an inequality, which tells prefixes apart by counts
SELECT 1 AS one FROM Y, Z WHERE Y.ts > Z.ts AND Y.a < Z.a

-- <>, where all count but one
SELECT 1 AS one FROM Y, Z WHERE Y.ts > Z.ts AND Y.a <> Z.a

-- a stream used twice
SELECT 1 AS one FROM Z AS x, Z AS y WHERE x.a < y.a

-- DISTINCT remembers what it returned
SELECT DISTINCT Z.a FROM Z

-- a maximum and a minimum
SELECT DISTINCT 1 AS one FROM X, Y, Z WHERE X.ts > Z.ts AND Y.ts > Z.ts AND X.a < Z.a AND Z.a < Y.a

-- two maxima of one tuple
SELECT DISTINCT 1 AS one FROM X, Y, Z WHERE X.ts > Z.ts AND Y.ts > Z.ts AND X.a < Z.a AND Y.a < Z.b

-- the frontier of docs/theory-paper.md
SELECT DISTINCT 1 AS one FROM W, X, Y, Z WHERE W.ts > X.ts AND X.ts > Y.ts AND Y.ts > Z.ts AND X.a < Z.b AND W.a < Y.a

-- a band
SELECT DISTINCT 1 AS one FROM Y, Z WHERE Z.a <= Y.a AND Y.a <= Z.a + 2

-- an interval that a strict and a weak end make
SELECT DISTINCT 1 AS one FROM Y, Z WHERE Y.ts > Z.ts AND Z.b < Y.a AND Y.a <= Z.a

-- an interval of two streams' values, one after the other
SELECT DISTINCT 1 AS one FROM X, Y, Z WHERE X.ts > Z.ts AND Y.ts > Z.ts AND Z.b >= X.a AND Y.a < X.a

-- the third pair of references
SELECT DISTINCT 1 AS one FROM Y, Z WHERE Y.a < Z.a AND Y.b < Z.b AND Y.a <= Z.b

-- a branch of a union
SELECT Z.a FROM Z WHERE Z.a < 3 UNION ALL SELECT Z.b FROM Y, Z WHERE Y.ts > Z.ts

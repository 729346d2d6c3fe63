-- name: figure2
-- Bounded: S is the newest, so its A is written at once; B has four values, so counters per value of B are enough.
SELECT S.A, T.B
FROM S, T, U
WHERE S.I > T.J AND T.J > U.K AND S.A > T.B AND 0 < T.B AND T.B < 5

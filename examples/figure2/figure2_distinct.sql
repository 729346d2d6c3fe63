-- name: figure2_distinct
-- Unbounded: to write each pair once, every value of S.A ever written must be remembered, and S.A has no bounds.
SELECT DISTINCT S.A, T.B
FROM S, T, U
WHERE S.I > T.J AND T.J > U.K AND S.A > T.B AND 0 < T.B AND T.B < 5

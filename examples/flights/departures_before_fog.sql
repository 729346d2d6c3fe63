-- name: departures_before_fog
-- The same with `<=` turned round: at each foggy hour, the flights that had left two hours late before it.
-- Rejected: the fog of any later day may ask for every one of those flights again, by number and delay.
SELECT d.flight, a.name, d.dep_delay, w.visib
FROM departures AS d
JOIN weather AS w ON w.origin = d.origin AND w.ts >= d.ts
JOIN airlines AS a ON a.carrier = d.carrier
WHERE d.dep_delay >= 120 AND w.visib < 100

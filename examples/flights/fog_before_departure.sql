-- name: fog_before_departure
-- Each departure two hours late or more, with the foggy hours (visibility below a mile) its airport had seen by then.
-- The departure is the newer row, so its columns cost nothing; of the fog, a count per airport and visibility is enough.
SELECT d.flight, a.name, d.dep_delay, w.visib
FROM departures AS d
JOIN weather AS w ON w.origin = d.origin AND w.ts <= d.ts
JOIN airlines AS a ON a.carrier = d.carrier
WHERE d.dep_delay >= 120 AND w.visib < 100

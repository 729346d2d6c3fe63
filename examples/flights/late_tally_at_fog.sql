-- name: late_tally_at_fog
-- Repaired: at each foggy hour, how many flights of each airline had left that airport two hours late or more.
-- Only the select list changed: of a flight it keeps airport and airline, so 3 x 16 counters replace all the flights.
SELECT d.origin, a.name, w.visib
FROM departures AS d
JOIN weather AS w ON w.origin = d.origin AND w.ts >= d.ts
JOIN airlines AS a ON a.carrier = d.carrier
WHERE d.dep_delay >= 120 AND w.visib < 100

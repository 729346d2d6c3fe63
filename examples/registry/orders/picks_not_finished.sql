-- How long picking takes: start and end within a shift.
SELECT e.order_id, e.warehouse, s.priority
FROM pick_ends AS e
JOIN pick_starts AS s ON s.order_id = e.order_id
WHERE e.ts BETWEEN s.ts AND s.ts + 28800;

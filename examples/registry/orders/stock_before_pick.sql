-- Whether the warehouse moved stock before a pick of lower priority.
SELECT DISTINCT m.warehouse, m.priority
FROM pick_starts AS p
JOIN stock_moves AS m ON m.warehouse = p.warehouse
WHERE p.ts > m.ts AND p.priority < m.priority;

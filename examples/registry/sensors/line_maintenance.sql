-- Which lines had a power draw after a maintenance of the same line.
SELECT DISTINCT m.line
FROM power_draws AS p
JOIN maintenances AS m ON m.line = p.line
WHERE p.ts > m.ts;

-- orders: shipments, number 127
SELECT DISTINCT b.country, b.priority
FROM shipments AS a
JOIN replacements AS b ON a.country = b.country AND a.priority > b.priority
WHERE a.ts > b.ts;

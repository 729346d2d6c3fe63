-- orders: shipments, number 175
SELECT DISTINCT b.country, b.priority
FROM shipments AS a
JOIN pick_ends AS b ON a.country = b.country AND a.priority > b.priority
WHERE a.ts > b.ts;

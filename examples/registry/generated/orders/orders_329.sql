-- orders: returns, number 82
SELECT a.order_id, b.country
FROM returns AS a, pick_starts AS b
WHERE a.ts > b.ts AND a.country = b.country AND b.priority <= 1;

-- orders: pick_ends, number 98
SELECT a.order_id, b.country
FROM pick_ends AS a, returns AS b
WHERE a.ts > b.ts AND a.country = b.country AND b.priority <= 2;

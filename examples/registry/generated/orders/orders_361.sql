-- orders: pick_ends, number 90
SELECT a.order_id, b.country
FROM pick_ends AS a, pick_starts AS b
WHERE a.ts > b.ts AND a.country = b.country AND b.priority <= 1;

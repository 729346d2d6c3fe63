-- orders: replacements, number 18
SELECT a.order_id, b.country
FROM replacements AS a, pick_ends AS b
WHERE a.ts > b.ts AND a.country = b.country AND b.priority <= 1;

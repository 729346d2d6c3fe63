-- orders: replacements, number 10
SELECT a.order_id, b.country
FROM replacements AS a, orders_cancelled AS b
WHERE a.ts > b.ts AND a.country = b.country AND b.priority <= 1;

-- orders: carts_abandoned, number 114
SELECT a.order_id, b.country
FROM carts_abandoned AS a, orders_placed AS b
WHERE a.ts > b.ts AND a.country = b.country AND b.priority <= 1;

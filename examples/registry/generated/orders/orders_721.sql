-- orders: dunning_letters, number 180
SELECT a.order_id, b.priority AS before, c.priority AS first
FROM dunning_letters AS a, backorders AS b, promotions AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.country = b.country AND b.priority > c.priority;

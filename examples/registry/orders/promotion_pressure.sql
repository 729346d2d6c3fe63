-- Orders of a country after a promotion there of higher priority.
SELECT o.order_id, p.priority
FROM orders_placed AS o
JOIN promotions AS p ON p.country = o.country
WHERE o.ts > p.ts AND p.priority > o.priority;

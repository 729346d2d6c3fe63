-- A price change in the same country within five minutes before the order.
SELECT o.order_id, c.items
FROM orders_placed AS o
JOIN price_changes AS c ON c.country = o.country
WHERE c.ts BETWEEN o.ts - 300 AND o.ts;

-- orders: replacements, number 166
SELECT a.order_id, b.country, c.items
FROM replacements AS a
JOIN dunning_letters AS b ON b.order_id = a.order_id AND b.ts BETWEEN a.ts - 1800 AND a.ts
JOIN returns AS c ON c.order_id = a.order_id AND c.ts BETWEEN a.ts - 1800 AND a.ts;

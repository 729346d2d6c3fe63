-- orders: pick_ends, number 149
SELECT a.order_id, b.note
FROM pick_ends AS a
JOIN carts_abandoned AS b ON a.order_id = b.order_id
WHERE a.ts > b.ts;

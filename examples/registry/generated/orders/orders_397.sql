-- orders: pick_ends, number 99
SELECT a.order_id, b.note
FROM pick_ends AS a
JOIN backorders AS b ON a.order_id = b.order_id
WHERE a.ts > b.ts;

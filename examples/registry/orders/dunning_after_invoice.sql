-- Every dunning letter with the invoice it is about, however old.
SELECT l.order_id, i.items
FROM dunning_letters AS l
JOIN invoices AS i ON i.order_id = l.order_id
WHERE l.ts > i.ts;

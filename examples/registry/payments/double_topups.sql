-- The same amount topped up twice within a minute.
SELECT first.customer_id, first.amount_cents
FROM wallet_topups AS first
JOIN wallet_topups AS second ON first.customer_id = second.customer_id
WHERE second.ts > first.ts AND second.ts <= first.ts + 60 AND first.amount_cents = second.amount_cents;

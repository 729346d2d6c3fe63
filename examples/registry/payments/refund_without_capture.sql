-- A refund within an hour of the authorization it belongs to, although nothing was captured yet, is worth a look.
SELECT r.merchant_id, r.amount_cents, a.amount_cents AS authorized
FROM refunds AS r
JOIN authorizations AS a ON a.merchant_id = r.merchant_id AND a.customer_id = r.customer_id
WHERE r.ts BETWEEN a.ts AND a.ts + 3600 AND r.amount_cents >= a.amount_cents;

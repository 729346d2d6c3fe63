-- Authorized, captured, settled, each within half an hour of the one before.
SELECT s.merchant_id, s.amount_cents
FROM authorizations AS a
JOIN captures AS c ON c.merchant_id = a.merchant_id AND c.ts BETWEEN a.ts AND a.ts + 1800
JOIN settlements AS s ON s.merchant_id = c.merchant_id AND s.ts BETWEEN c.ts AND c.ts + 1800
WHERE a.method = 'card';

-- payments: disputes, number 99
SELECT a.merchant_id, b.note
FROM disputes AS a
JOIN mandates AS b ON a.merchant_id = b.merchant_id
WHERE a.ts > b.ts;

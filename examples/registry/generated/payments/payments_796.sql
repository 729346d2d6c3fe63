-- payments: disputes, number 199
SELECT a.merchant_id, b.note
FROM disputes AS a
JOIN settlements AS b ON a.merchant_id = b.merchant_id
WHERE a.ts > b.ts;

-- payments: refunds, number 194
SELECT a.merchant_id, b.method
FROM refunds AS a, wallet_topups AS b
WHERE a.ts > b.ts AND a.method = b.method AND b.priority <= 3;

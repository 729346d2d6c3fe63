-- payments: card_reissues, number 162
SELECT a.merchant_id, b.method
FROM card_reissues AS a, mandates AS b
WHERE a.ts > b.ts AND a.method = b.method AND b.priority <= 3;

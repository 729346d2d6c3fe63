-- payments: card_reissues, number 116
SELECT a.merchant_id, b.priority AS before, c.priority AS first
FROM card_reissues AS a, reversals AS b, wallet_debits AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.method = b.method AND b.priority > c.priority;

-- payments: refunds, number 188
SELECT a.merchant_id, b.priority AS before, c.priority AS first
FROM refunds AS a, card_reissues AS b, authorizations AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.method = b.method AND b.priority > c.priority;

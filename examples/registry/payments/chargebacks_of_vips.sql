-- Merchants under contract whose customers charged back after a capture; the contract table bounds the keys.
SELECT DISTINCT v.merchant_id, v.tier
FROM chargebacks AS c
JOIN captures AS p ON p.merchant_id = c.merchant_id
JOIN vip_merchants AS v ON v.merchant_id = c.merchant_id
WHERE c.ts > p.ts;

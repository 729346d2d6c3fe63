-- payments: payouts, number 72
SELECT a.merchant_id, a.amount_cents, b.amount_cents AS disputes_amount_cents
FROM payouts AS a
JOIN disputes AS b ON a.merchant_id = b.merchant_id
WHERE b.ts BETWEEN a.ts AND a.ts + 300
  AND a.method = 'card' AND a.amount_cents > 1438571;

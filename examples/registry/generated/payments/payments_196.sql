-- payments: chargebacks, number 49
SELECT a.merchant_id, b.note
FROM chargebacks AS a
JOIN card_reissues AS b ON a.merchant_id = b.merchant_id
WHERE a.ts > b.ts;

-- payments: chargebacks, number 187
SELECT merchant_id, amount_cents, note
FROM chargebacks
WHERE amount_cents >= 613127 AND method IN ('card', 'giro');

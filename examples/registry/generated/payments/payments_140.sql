-- payments: chargebacks, number 35
SELECT merchant_id, amount_cents, note
FROM chargebacks
WHERE amount_cents >= 1669431 AND method IN ('giro', 'paypal');

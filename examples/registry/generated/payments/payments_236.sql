-- payments: chargebacks, number 59
SELECT merchant_id, amount_cents, note
FROM chargebacks
WHERE amount_cents >= 2010022 AND method IN ('giro', 'paypal');

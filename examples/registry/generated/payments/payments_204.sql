-- payments: chargebacks, number 51
SELECT merchant_id, amount_cents, note
FROM chargebacks
WHERE amount_cents >= 1633633 AND method IN ('giro', 'card');

-- payments: disputes, number 67
SELECT merchant_id, amount_cents, note
FROM disputes
WHERE amount_cents >= 923787 AND method IN ('giro', 'paypal');

-- A filter: nothing is remembered.
SELECT merchant_id, customer_id, amount_cents
FROM wallet_debits
WHERE method = 'sepa' AND amount_cents > 1000000;

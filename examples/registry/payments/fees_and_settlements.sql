-- Fees and settlements of one currency, as one stream.
SELECT merchant_id, amount_cents, currency_number FROM fee_charges WHERE currency_number = 7
UNION ALL
SELECT merchant_id, amount_cents, currency_number FROM settlements WHERE currency_number = 7;

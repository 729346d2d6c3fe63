-- payments: captures, number 179
SELECT merchant_id, amount_cents, note
FROM captures
WHERE amount_cents >= 697188 AND method IN ('card', 'giro');

-- payments: card_reissues, number 147
SELECT merchant_id, amount_cents, note
FROM card_reissues
WHERE amount_cents >= 2241135 AND method IN ('giro', 'card');

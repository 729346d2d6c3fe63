-- payments: card_reissues, number 155
SELECT merchant_id, amount_cents, note
FROM card_reissues
WHERE amount_cents >= 1747150 AND method IN ('sepa', 'giro');

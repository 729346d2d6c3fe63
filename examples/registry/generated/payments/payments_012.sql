-- payments: card_blocks, number 3
SELECT merchant_id, amount_cents, note
FROM card_blocks
WHERE amount_cents >= 1703924 AND method IN ('card', 'giro');

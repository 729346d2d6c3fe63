SELECT card, COUNT(*) AS payments
FROM payments
GROUP BY card
HAVING COUNT(*) >= 3

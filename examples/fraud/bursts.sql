-- streambound: emit final
SELECT card, window.start AS since, COUNT(*) AS payments, SUM(amount) AS total
FROM payments
GROUP BY card, window(ts, '10 minutes', '5 minutes')
HAVING COUNT(*) >= 3

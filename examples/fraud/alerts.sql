SELECT card, date_trunc('HOUR', at) AS hour, COUNT(*) AS charges, SUM(amount) AS total
FROM charges
GROUP BY card, date_trunc('HOUR', at)
HAVING COUNT(*) >= 3

-- orders: stock_moves, number 55
SELECT DISTINCT b.country, b.priority
FROM stock_moves AS a
JOIN pick_starts AS b ON a.country = b.country AND a.priority > b.priority
WHERE a.ts > b.ts;

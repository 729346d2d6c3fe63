-- orders: backorders, number 167
SELECT DISTINCT b.country, b.priority
FROM backorders AS a
JOIN replacements AS b ON a.country = b.country AND a.priority > b.priority
WHERE a.ts > b.ts;

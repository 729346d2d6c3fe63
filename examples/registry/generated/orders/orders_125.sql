-- orders: replacements, number 31
SELECT DISTINCT b.country, b.priority
FROM replacements AS a
JOIN pick_starts AS b ON a.country = b.country AND a.priority > b.priority
WHERE a.ts > b.ts;

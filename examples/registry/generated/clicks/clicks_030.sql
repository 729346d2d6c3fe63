-- clicks: sign_ups, number 7
SELECT DISTINCT b.device, b.priority
FROM sign_ups AS a
JOIN logouts AS b ON a.device = b.device AND a.priority > b.priority
WHERE a.ts > b.ts;

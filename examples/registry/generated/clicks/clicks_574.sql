-- clicks: logouts, number 143
SELECT DISTINCT b.device, b.priority
FROM logouts AS a
JOIN consent_changes AS b ON a.device = b.device AND a.priority > b.priority
WHERE a.ts > b.ts;

-- clicks: logins, number 159
SELECT DISTINCT b.device, b.priority
FROM logins AS a
JOIN consent_changes AS b ON a.device = b.device AND a.priority > b.priority
WHERE a.ts > b.ts;

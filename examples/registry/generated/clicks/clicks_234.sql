-- clicks: logins, number 58
SELECT a.visitor_id, b.device
FROM logins AS a, consent_changes AS b
WHERE a.ts > b.ts AND a.device = b.device AND b.priority <= 2;

-- clicks: logins, number 82
SELECT a.visitor_id, b.device
FROM logins AS a, logouts AS b
WHERE a.ts > b.ts AND a.device = b.device AND b.priority <= 1;

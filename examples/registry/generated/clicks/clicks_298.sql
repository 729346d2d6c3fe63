-- clicks: logins, number 74
SELECT a.visitor_id, b.device
FROM logins AS a, searches AS b
WHERE a.ts > b.ts AND a.device = b.device AND b.priority <= 1;

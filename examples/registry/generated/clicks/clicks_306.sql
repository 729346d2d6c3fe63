-- clicks: logouts, number 76
SELECT a.visitor_id, b.priority AS before, c.priority AS first
FROM logouts AS a, logins AS b, consent_changes AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.device = b.device AND b.priority > c.priority;

-- clicks: logouts, number 108
SELECT a.visitor_id, b.priority AS before, c.priority AS first
FROM logouts AS a, searches AS b, sign_ups AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.device = b.device AND b.priority > c.priority;

-- clicks: searches, number 170
SELECT a.visitor_id, b.device
FROM searches AS a, logouts AS b
WHERE a.ts > b.ts AND a.device = b.device AND b.priority <= 3;

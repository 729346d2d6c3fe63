-- clicks: searches, number 138
SELECT a.visitor_id, b.device
FROM searches AS a, sign_ups AS b
WHERE a.ts > b.ts AND a.device = b.device AND b.priority <= 2;

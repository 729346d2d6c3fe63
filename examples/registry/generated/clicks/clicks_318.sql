-- clicks: searches, number 79
SELECT DISTINCT b.device, b.priority
FROM searches AS a
JOIN page_views AS b ON a.device = b.device AND a.priority > b.priority
WHERE a.ts > b.ts;

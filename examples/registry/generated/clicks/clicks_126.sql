-- clicks: page_views, number 31
SELECT DISTINCT b.device, b.priority
FROM page_views AS a
JOIN logins AS b ON a.device = b.device AND a.priority > b.priority
WHERE a.ts > b.ts;

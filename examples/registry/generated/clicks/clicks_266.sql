-- clicks: page_views, number 66
SELECT a.visitor_id, b.device
FROM page_views AS a, logouts AS b
WHERE a.ts > b.ts AND a.device = b.device AND b.priority <= 3;

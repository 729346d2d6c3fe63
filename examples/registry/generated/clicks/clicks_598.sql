-- clicks: page_views, number 149
SELECT a.visitor_id, b.note
FROM page_views AS a
JOIN searches AS b ON a.visitor_id = b.visitor_id
WHERE a.ts > b.ts;

-- clicks: page_views, number 67
SELECT visitor_id, score, note
FROM page_views
WHERE score >= 363 AND device IN ('app', 'desktop');

-- clicks: logouts, number 61
SELECT visitor_id, device
FROM logouts
WHERE device <> 'desktop'
UNION ALL
SELECT visitor_id, device
FROM page_views
WHERE score BETWEEN 143 AND 286;

-- clicks: ad_clicks, number 181
SELECT visitor_id, device
FROM ad_clicks
WHERE device <> 'desktop'
UNION ALL
SELECT visitor_id, device
FROM page_views
WHERE score BETWEEN 394 AND 788;

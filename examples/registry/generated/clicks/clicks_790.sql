-- clicks: ad_clicks, number 197
SELECT visitor_id, device
FROM ad_clicks
WHERE device <> 'desktop'
UNION ALL
SELECT visitor_id, device
FROM ad_impressions
WHERE score BETWEEN 416 AND 832;

-- clicks: ad_clicks, number 75
SELECT visitor_id, score, note
FROM ad_clicks
WHERE score >= 162 AND device IN ('app', 'desktop');

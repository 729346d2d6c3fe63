-- clicks: ad_clicks, number 51
SELECT visitor_id, score, note
FROM ad_clicks
WHERE score >= 137 AND device IN ('app', 'desktop');

-- clicks: ad_clicks, number 27
SELECT visitor_id, score, note
FROM ad_clicks
WHERE score >= 442 AND device IN ('mobile', 'app');

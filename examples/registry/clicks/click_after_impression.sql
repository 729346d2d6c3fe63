-- Attribution within ten minutes.
SELECT c.visitor_id, c.campaign, i.score
FROM ad_clicks AS c
JOIN ad_impressions AS i ON i.visitor_id = c.visitor_id AND i.campaign = c.campaign
WHERE c.ts BETWEEN i.ts AND i.ts + 600;

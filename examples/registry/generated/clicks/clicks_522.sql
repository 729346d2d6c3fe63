-- clicks: ad_impressions, number 130
SELECT a.visitor_id, b.device
FROM ad_impressions AS a, logouts AS b
WHERE a.ts > b.ts AND a.device = b.device AND b.priority <= 3;

-- clicks: ad_impressions, number 90
SELECT a.visitor_id, b.device
FROM ad_impressions AS a, app_crashes AS b
WHERE a.ts > b.ts AND a.device = b.device AND b.priority <= 1;

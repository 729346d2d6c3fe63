-- clicks: ad_impressions, number 199
SELECT a.visitor_id, b.note
FROM ad_impressions AS a
JOIN app_installs AS b ON a.visitor_id = b.visitor_id
WHERE a.ts > b.ts;

-- clicks: app_installs, number 152
SELECT a.visitor_id, a.score, b.score AS ad_impressions_score
FROM app_installs AS a
JOIN ad_impressions AS b ON a.visitor_id = b.visitor_id
WHERE b.ts BETWEEN a.ts AND a.ts + 60
  AND a.device = 'desktop' AND a.score > 156;

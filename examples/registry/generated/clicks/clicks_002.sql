-- clicks: logins, number 0
SELECT a.visitor_id, a.score, b.score AS ad_impressions_score
FROM logins AS a
JOIN ad_impressions AS b ON a.visitor_id = b.visitor_id
WHERE b.ts BETWEEN a.ts AND a.ts + 1800
  AND a.device = 'app' AND a.score > 264;

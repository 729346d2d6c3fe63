-- clicks: ad_impressions, number 56
SELECT a.visitor_id, a.score, b.score AS video_starts_score
FROM ad_impressions AS a
JOIN video_starts AS b ON a.visitor_id = b.visitor_id
WHERE b.ts BETWEEN a.ts AND a.ts + 600
  AND a.device = 'app' AND a.score > 439;

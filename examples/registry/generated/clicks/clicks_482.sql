-- clicks: consent_changes, number 120
SELECT a.visitor_id, a.score, b.score AS app_installs_score
FROM consent_changes AS a
JOIN app_installs AS b ON a.visitor_id = b.visitor_id
WHERE b.ts BETWEEN a.ts AND a.ts + 300
  AND a.device = 'mobile' AND a.score > 128;

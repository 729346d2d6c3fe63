-- clicks: app_installs, number 88
SELECT a.visitor_id, a.score, b.score AS newsletter_opens_score
FROM app_installs AS a
JOIN newsletter_opens AS b ON a.visitor_id = b.visitor_id
WHERE b.ts BETWEEN a.ts AND a.ts + 60
  AND a.device = 'desktop' AND a.score > 275;

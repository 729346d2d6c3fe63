-- clicks: searches, number 160
SELECT a.visitor_id, a.score, b.score AS logins_score
FROM searches AS a
JOIN logins AS b ON a.visitor_id = b.visitor_id
WHERE b.ts BETWEEN a.ts AND a.ts + 600
  AND a.device = 'desktop' AND a.score > 115;

-- clicks: logins, number 192
SELECT a.visitor_id, a.score, b.score AS searches_score
FROM logins AS a
JOIN searches AS b ON a.visitor_id = b.visitor_id
WHERE b.ts BETWEEN a.ts AND a.ts + 900
  AND a.device = 'mobile' AND a.score > 243;

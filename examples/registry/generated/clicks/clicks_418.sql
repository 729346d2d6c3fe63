-- clicks: newsletter_opens, number 104
SELECT a.visitor_id, a.score, b.score AS video_starts_score
FROM newsletter_opens AS a
JOIN video_starts AS b ON a.visitor_id = b.visitor_id
WHERE b.ts BETWEEN a.ts AND a.ts + 1800
  AND a.device = 'mobile' AND a.score > 496;

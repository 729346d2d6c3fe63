-- clicks: newsletter_opens, number 72
SELECT a.visitor_id, a.score, b.score AS page_views_score
FROM newsletter_opens AS a
JOIN page_views AS b ON a.visitor_id = b.visitor_id
WHERE b.ts BETWEEN a.ts AND a.ts + 600
  AND a.device = 'desktop' AND a.score > 162;

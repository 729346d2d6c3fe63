-- clicks: newsletter_opens, number 83
SELECT visitor_id, score, note
FROM newsletter_opens
WHERE score >= 297 AND device IN ('app', 'desktop');

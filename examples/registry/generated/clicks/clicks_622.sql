-- clicks: newsletter_opens, number 155
SELECT visitor_id, score, note
FROM newsletter_opens
WHERE score >= 345 AND device IN ('mobile', 'desktop');

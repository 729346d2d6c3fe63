-- clicks: logouts, number 91
SELECT visitor_id, score, note
FROM logouts
WHERE score >= 188 AND device IN ('app', 'mobile');

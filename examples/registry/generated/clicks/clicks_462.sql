-- clicks: logouts, number 115
SELECT visitor_id, score, note
FROM logouts
WHERE score >= 177 AND device IN ('desktop', 'app');

-- clicks: searches, number 107
SELECT visitor_id, score, note
FROM searches
WHERE score >= 228 AND device IN ('desktop', 'app');

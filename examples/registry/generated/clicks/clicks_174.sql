-- clicks: searches, number 43
SELECT visitor_id, score, note
FROM searches
WHERE score >= 493 AND device IN ('mobile', 'desktop');

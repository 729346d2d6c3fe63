-- clicks: logins, number 171
SELECT visitor_id, score, note
FROM logins
WHERE score >= 310 AND device IN ('desktop', 'app');

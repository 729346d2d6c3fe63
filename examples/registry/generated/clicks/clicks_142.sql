-- clicks: logins, number 35
SELECT visitor_id, score, note
FROM logins
WHERE score >= 497 AND device IN ('app', 'mobile');

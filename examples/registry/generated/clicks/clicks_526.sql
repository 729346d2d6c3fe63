-- clicks: app_installs, number 131
SELECT visitor_id, score, note
FROM app_installs
WHERE score >= 343 AND device IN ('app', 'desktop');

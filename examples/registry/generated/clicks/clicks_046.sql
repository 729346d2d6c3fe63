-- clicks: app_crashes, number 11
SELECT visitor_id, score, note
FROM app_crashes
WHERE score >= 355 AND device IN ('app', 'mobile');

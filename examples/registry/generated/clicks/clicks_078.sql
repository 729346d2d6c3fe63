-- clicks: app_crashes, number 19
SELECT visitor_id, score, note
FROM app_crashes
WHERE score >= 345 AND device IN ('app', 'desktop');

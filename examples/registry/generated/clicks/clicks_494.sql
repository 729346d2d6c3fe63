-- clicks: app_crashes, number 123
SELECT visitor_id, score, note
FROM app_crashes
WHERE score >= 274 AND device IN ('mobile', 'app');

-- clicks: app_crashes, number 161
SELECT DISTINCT k.visitor_id, b.priority
FROM app_crashes AS a
JOIN searches AS b ON a.visitor_id = b.visitor_id
JOIN test_visitors AS k ON k.visitor_id = a.visitor_id
WHERE a.ts > b.ts AND b.score >= 485;

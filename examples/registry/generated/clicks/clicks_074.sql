-- clicks: consent_changes, number 18
SELECT a.visitor_id, b.device
FROM consent_changes AS a, searches AS b
WHERE a.ts > b.ts AND a.device = b.device AND b.priority <= 1;

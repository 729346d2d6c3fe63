-- clicks: consent_changes, number 151
SELECT DISTINCT b.device, b.priority
FROM consent_changes AS a
JOIN page_views AS b ON a.device = b.device AND a.priority > b.priority
WHERE a.ts > b.ts;

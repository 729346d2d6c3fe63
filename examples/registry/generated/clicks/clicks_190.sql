-- clicks: app_installs, number 47
SELECT DISTINCT b.device, b.priority
FROM app_installs AS a
JOIN cart_adds AS b ON a.device = b.device AND a.priority > b.priority
WHERE a.ts > b.ts;

-- clicks: app_installs, number 122
SELECT a.visitor_id, b.device
FROM app_installs AS a, cart_adds AS b
WHERE a.ts > b.ts AND a.device = b.device AND b.priority <= 2;

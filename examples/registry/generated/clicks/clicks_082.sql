-- clicks: app_installs, number 20
SELECT a.visitor_id, b.priority AS before, c.priority AS first
FROM app_installs AS a, sign_ups AS b, page_views AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.device = b.device AND b.priority > c.priority;

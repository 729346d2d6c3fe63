-- clicks: newsletter_opens, number 55
SELECT DISTINCT b.device, b.priority
FROM newsletter_opens AS a
JOIN app_installs AS b ON a.device = b.device AND a.priority > b.priority
WHERE a.ts > b.ts;

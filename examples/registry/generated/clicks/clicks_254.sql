-- clicks: newsletter_opens, number 63
SELECT DISTINCT b.device, b.priority
FROM newsletter_opens AS a
JOIN ad_clicks AS b ON a.device = b.device AND a.priority > b.priority
WHERE a.ts > b.ts;

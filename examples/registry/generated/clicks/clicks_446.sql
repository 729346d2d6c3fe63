-- clicks: ad_clicks, number 111
SELECT DISTINCT b.device, b.priority
FROM ad_clicks AS a
JOIN newsletter_opens AS b ON a.device = b.device AND a.priority > b.priority
WHERE a.ts > b.ts;

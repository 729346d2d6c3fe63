-- clicks: searches, number 135
SELECT DISTINCT b.device, b.priority
FROM searches AS a
JOIN newsletter_opens AS b ON a.device = b.device AND a.priority > b.priority
WHERE a.ts > b.ts;

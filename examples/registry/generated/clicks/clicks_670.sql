-- clicks: logins, number 167
SELECT DISTINCT b.device, b.priority
FROM logins AS a
JOIN video_starts AS b ON a.device = b.device AND a.priority > b.priority
WHERE a.ts > b.ts;

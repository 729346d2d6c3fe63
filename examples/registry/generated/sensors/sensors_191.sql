-- sensors: firmware_updates, number 47
SELECT DISTINCT b.site, b.priority
FROM firmware_updates AS a
JOIN alarms AS b ON a.site = b.site AND a.priority > b.priority
WHERE a.ts > b.ts;

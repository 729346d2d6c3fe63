-- sensors: firmware_updates, number 186
SELECT a.device_id, b.site
FROM firmware_updates AS a, alarms AS b
WHERE a.ts > b.ts AND a.site = b.site AND b.priority <= 1;

-- sensors: temperatures, number 66
SELECT a.device_id, b.site
FROM temperatures AS a, pressures AS b
WHERE a.ts > b.ts AND a.site = b.site AND b.priority <= 2;

-- sensors: vibrations, number 34
SELECT a.device_id, b.site
FROM vibrations AS a, battery_levels AS b
WHERE a.ts > b.ts AND a.site = b.site AND b.priority <= 2;

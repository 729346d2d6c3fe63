-- sensors: battery_levels, number 114
SELECT a.device_id, b.site
FROM battery_levels AS a, alarms AS b
WHERE a.ts > b.ts AND a.site = b.site AND b.priority <= 3;

-- sensors: door_closes, number 70
SELECT a.device_id, b.site, c.reading
FROM door_closes AS a
JOIN door_opens AS b ON b.device_id = a.device_id AND b.ts BETWEEN a.ts - 900 AND a.ts
JOIN power_draws AS c ON c.device_id = a.device_id AND c.ts BETWEEN a.ts - 900 AND a.ts;

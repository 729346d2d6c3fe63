-- A temperature and a vibration of one device, both high, within ten seconds.
SELECT t.device_id, t.reading, v.reading AS vibration
FROM temperatures AS t
JOIN vibrations AS v ON v.device_id = t.device_id
WHERE v.ts BETWEEN t.ts - 10 AND t.ts + 10 AND t.reading > 3000 AND v.reading > 2500;

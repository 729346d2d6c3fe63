-- Batteries and heartbeats of one site.
SELECT device_id, reading FROM battery_levels WHERE reading < 400 AND site = 'bremen'
UNION ALL
SELECT device_id, reading FROM heartbeats WHERE reading < 400 AND site = 'bremen';

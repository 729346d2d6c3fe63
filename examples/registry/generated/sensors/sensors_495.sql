-- sensors: calibrations, number 123
SELECT device_id, reading, note
FROM calibrations
WHERE reading >= 1259 AND site IN ('essen', 'dresden');

-- sensors: vibrations, number 19
SELECT device_id, reading, note
FROM vibrations
WHERE reading >= 697 AND site IN ('dresden', 'bremen');

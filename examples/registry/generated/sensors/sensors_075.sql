-- sensors: acknowledgements, number 18
SELECT a.device_id, b.site
FROM acknowledgements AS a, door_closes AS b
WHERE a.ts > b.ts AND a.site = b.site AND b.priority <= 3;

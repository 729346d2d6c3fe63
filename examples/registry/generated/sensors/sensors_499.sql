-- sensors: heartbeats, number 124
SELECT a.device_id, b.priority AS before, c.priority AS first
FROM heartbeats AS a, door_closes AS b, door_opens AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.site = b.site AND b.priority > c.priority;

-- Videos that were started and stopped within half an hour.
SELECT b.visitor_id, e.score
FROM video_starts AS b
JOIN video_stops AS e ON e.visitor_id = b.visitor_id
WHERE e.ts BETWEEN b.ts AND b.ts + 1800 AND b.campaign BETWEEN 10 AND 20;

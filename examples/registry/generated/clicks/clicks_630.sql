-- clicks: sign_ups, number 157
SELECT visitor_id, device
FROM sign_ups
WHERE device <> 'mobile'
UNION ALL
SELECT visitor_id, device
FROM video_starts
WHERE score BETWEEN 252 AND 504;

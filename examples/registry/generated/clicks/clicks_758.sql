-- clicks: cart_adds, number 189
SELECT visitor_id, device
FROM cart_adds
WHERE device <> 'mobile'
UNION ALL
SELECT visitor_id, device
FROM video_starts
WHERE score BETWEEN 356 AND 712;

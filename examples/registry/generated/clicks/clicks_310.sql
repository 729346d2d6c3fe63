-- clicks: cart_adds, number 77
SELECT visitor_id, device
FROM cart_adds
WHERE device <> 'app'
UNION ALL
SELECT visitor_id, device
FROM app_crashes
WHERE score BETWEEN 303 AND 606;

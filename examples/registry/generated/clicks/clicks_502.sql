-- clicks: app_installs, number 125
SELECT visitor_id, device
FROM app_installs
WHERE device <> 'mobile'
UNION ALL
SELECT visitor_id, device
FROM cart_removes
WHERE score BETWEEN 205 AND 410;

-- clicks: logins, number 29
SELECT visitor_id, device
FROM logins
WHERE device <> 'app'
UNION ALL
SELECT visitor_id, device
FROM app_crashes
WHERE score BETWEEN 491 AND 982;

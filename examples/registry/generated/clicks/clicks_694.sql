-- clicks: app_crashes, number 173
SELECT visitor_id, device
FROM app_crashes
WHERE device <> 'app'
UNION ALL
SELECT visitor_id, device
FROM ad_impressions
WHERE score BETWEEN 390 AND 780;

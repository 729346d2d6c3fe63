-- clicks: app_crashes, number 117
SELECT visitor_id, device
FROM app_crashes
WHERE device <> 'desktop'
UNION ALL
SELECT visitor_id, device
FROM consent_changes
WHERE score BETWEEN 160 AND 320;

-- clicks: consent_changes, number 165
SELECT visitor_id, device
FROM consent_changes
WHERE device <> 'mobile'
UNION ALL
SELECT visitor_id, device
FROM logins
WHERE score BETWEEN 447 AND 894;

-- clicks: sign_ups, number 101
SELECT visitor_id, device
FROM sign_ups
WHERE device <> 'desktop'
UNION ALL
SELECT visitor_id, device
FROM newsletter_opens
WHERE score BETWEEN 115 AND 230;

-- clicks: logouts, number 69
SELECT visitor_id, device
FROM logouts
WHERE device <> 'desktop'
UNION ALL
SELECT visitor_id, device
FROM newsletter_opens
WHERE score BETWEEN 462 AND 924;

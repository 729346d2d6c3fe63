-- clicks: newsletter_opens, number 13
SELECT visitor_id, device
FROM newsletter_opens
WHERE device <> 'desktop'
UNION ALL
SELECT visitor_id, device
FROM consent_changes
WHERE score BETWEEN 304 AND 608;

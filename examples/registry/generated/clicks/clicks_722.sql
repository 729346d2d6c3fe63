-- clicks: newsletter_opens, number 180
SELECT a.visitor_id, b.priority AS before, c.priority AS first
FROM newsletter_opens AS a, cart_adds AS b, ad_impressions AS c
WHERE a.ts > b.ts AND b.ts > c.ts AND a.device = b.device AND b.priority > c.priority;

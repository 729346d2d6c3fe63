-- clicks: sign_ups, number 49
SELECT a.visitor_id, b.note
FROM sign_ups AS a
JOIN ad_impressions AS b ON a.visitor_id = b.visitor_id
WHERE a.ts > b.ts;

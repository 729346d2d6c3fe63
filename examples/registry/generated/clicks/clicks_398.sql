-- clicks: logins, number 99
SELECT a.visitor_id, b.note
FROM logins AS a
JOIN cart_adds AS b ON a.visitor_id = b.visitor_id
WHERE a.ts > b.ts;

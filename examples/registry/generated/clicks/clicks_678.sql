-- clicks: newsletter_opens, number 169
SELECT DISTINCT k.visitor_id, b.priority
FROM newsletter_opens AS a
JOIN consent_changes AS b ON a.visitor_id = b.visitor_id
JOIN test_visitors AS k ON k.visitor_id = a.visitor_id
WHERE a.ts > b.ts AND b.score >= 496;

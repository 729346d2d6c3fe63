-- Logins shortly after a consent change in the same session.
SELECT l.session_id, l.visitor_id
FROM logins AS l
JOIN consent_changes AS c ON c.session_id = l.session_id
WHERE l.ts > c.ts AND l.ts <= c.ts + 30;

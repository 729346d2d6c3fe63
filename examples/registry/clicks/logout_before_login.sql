-- A session that logs out and in again within a minute on another device.
SELECT i.session_id, i.device
FROM logins AS i
JOIN logouts AS o ON o.session_id = i.session_id
WHERE i.ts BETWEEN o.ts AND o.ts + 60 AND i.device <> o.device;

-- Every sign-up with all earlier clicks of the visitor.
-- streambound: allow SB203 reason="replaced by click_after_impression when the attribution contract ends"
SELECT u.visitor_id, c.campaign
FROM sign_ups AS u
JOIN ad_clicks AS c ON c.visitor_id = u.visitor_id
WHERE u.ts > c.ts;

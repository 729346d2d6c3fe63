-- What our testers see, once per device.
SELECT DISTINCT t.visitor_id, p.device
FROM page_views AS p
JOIN test_visitors AS t ON t.visitor_id = p.visitor_id;

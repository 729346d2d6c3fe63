-- Adds and removes, as one stream.
SELECT visitor_id, campaign FROM cart_adds WHERE priority >= 4
UNION ALL
SELECT visitor_id, campaign FROM cart_removes WHERE priority >= 4;

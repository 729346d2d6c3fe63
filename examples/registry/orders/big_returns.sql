-- Returns of more than a hundred items.
SELECT order_id, items, country FROM returns WHERE items > 100 AND country NOT IN ('DK', 'PL');

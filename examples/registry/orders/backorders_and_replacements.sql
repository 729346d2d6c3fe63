-- Both ways to send something again.
SELECT order_id, country, items FROM backorders WHERE priority = 1
UNION ALL
SELECT order_id, country, items FROM replacements WHERE priority IN (1, 2);

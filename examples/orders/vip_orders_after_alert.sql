-- name: vip_orders_after_alert
-- Orders by VIP customers, with every alert raised before them. Of the alerts, a count per VIP and level is enough.
SELECT o.customer, v.name, a.level
FROM orders AS o
JOIN alerts AS a ON a.customer = o.customer AND a.ts < o.ts
JOIN vip AS v ON v.customer = o.customer

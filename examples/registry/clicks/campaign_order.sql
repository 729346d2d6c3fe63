-- Which campaigns had an impression before an opened newsletter of the same campaign.
SELECT DISTINCT n.campaign
FROM newsletter_opens AS n
JOIN ad_impressions AS i ON i.campaign = n.campaign
WHERE n.ts > i.ts;

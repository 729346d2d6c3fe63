-- Nexmark 21, add channel id: by the channel's name, or else as the address of the bid says. (Where the pattern is not
-- found, Spark's REGEXP_EXTRACT gives an empty text and not NULL, so WHERE asks for the pattern.)
SELECT
  auction, bidder, price, channel,
  CASE
    WHEN LOWER(channel) = 'apple' THEN '0'
    WHEN LOWER(channel) = 'google' THEN '1'
    WHEN LOWER(channel) = 'facebook' THEN '2'
    WHEN LOWER(channel) = 'baidu' THEN '3'
    ELSE REGEXP_EXTRACT(url, '(&|^)channel_id=([^&]*)', 2)
  END AS channel_id
FROM bid
WHERE url RLIKE '(&|^)channel_id=([^&]*)' OR LOWER(channel) IN ('apple', 'google', 'facebook', 'baidu')

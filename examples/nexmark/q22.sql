-- Nexmark 22, get URL directories: three parts of the address of each bid.
SELECT
  auction, bidder, price, channel,
  GET(SPLIT(url, '/'), 3) AS dir1,
  GET(SPLIT(url, '/'), 4) AS dir2,
  GET(SPLIT(url, '/'), 5) AS dir3
FROM bid

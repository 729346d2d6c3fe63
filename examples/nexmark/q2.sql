-- Nexmark 2, selection: bids for some auctions.
SELECT auction, price
FROM bid
WHERE auction % 123 = 0

-- Nexmark 13, bounded side input join: bids with what a static table says of their auctions.
SELECT B.auction, B.bidder, B.price, B.dateTime, S.value
FROM bid AS B
JOIN side_input AS S ON B.auction % 10000 = S.key

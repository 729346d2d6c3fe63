-- Nexmark 1, currency conversion: prices of bids in euros.
SELECT auction, bidder, 0.908 * price AS price, dateTime, extra
FROM bid

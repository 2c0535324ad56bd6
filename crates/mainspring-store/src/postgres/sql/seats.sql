-- Every term that was ever taken, by seat. Answers (seat, holder, epoch, until).
SELECT seat, holder, epoch, until FROM seats ORDER BY seat

"""What batch SQL says of the rows so far: the results that a job should print, and what tells witnesses apart."""

"""Where a plan's rows are decoded and its state is kept: on the driver, in buckets on executors, or nowhere."""

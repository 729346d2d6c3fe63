"""What a restart needs, and the checks that it is whole and belongs to this job."""

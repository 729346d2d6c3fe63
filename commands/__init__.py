"""The commands of the command line: one file each, which reads arguments, calls the packages and prints."""

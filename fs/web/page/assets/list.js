// The list of all recordings.

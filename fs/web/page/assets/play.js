// The viewer of a recording.

package recordings

import "time"

// KeepEvery makes passes keep what they have after every stretch of so many bytes.
func (s *Store[K]) KeepEvery(n int64) { s.pace = pace{time.Duration(0), n} }

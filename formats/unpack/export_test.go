package unpack

// CloseStreams closes what nobody reads at this moment, as time does.
func (p *Unpacker) CloseStreams() { p.streams.Close() }

// Work returns how much memory is taken, and the most that was.
func (p *Unpacker) Work() (now, peak int64) { return p.cache.Work() }

// MaxFrames is how many frames a seekable file may have.
const MaxFrames = maxFrames

package nethack

// A diffFormat is one of the three ways in which diffs were written.
type diffFormat uint8

const (
	noDiff diffFormat = iota // a backup, or a blob that does not decode
	beta1
	beta2
	beta3
)

var diffFormatNames = [...]string{"", "beta1", "beta2", "beta3"}

func (f diffFormat) String() string { return diffFormatNames[f] }

// formatOf tells the format of a diff by its first two bytes (docs/formats/nethack.md section 4).
// Beta1 has no header.
func formatOf(diff []byte) diffFormat {
	if len(diff) >= 2 && diff[0] == 0x01 {
		switch diff[1] {
		case 0x43:
			return beta3
		case 0x40:
			return beta2
		}
	}
	return beta1
}

// decode reads a diff against a save of length base. The patch keeps slices of the diff.
func (p *patch) decode(diff []byte, base int) error {
	p.reset(base)
	p.diff = diff
	switch formatOf(diff) {
	case beta3:
		return p.beta3(diff[2:])
	case beta2:
		return p.beta2(diff[2:])
	default:
		return p.beta1(diff)
	}
}

// beta1 reads 16-bit little-endian commands: two bits operation, 14 bits argument
// (docs/formats/nethack.md section 5.1). There is no end marker; 00 00 is padding that the game
// adds.
func (p *patch) beta1(d []byte) error {
	for len(d) > 0 {
		if len(d) < 2 {
			return errTruncated
		}
		n := uint64(d[1]&0x3f)<<8 | uint64(d[0])
		op := d[1] >> 6
		d = d[2:]
		if op == 0 && n == 0 {
			return nil
		}
		var err error
		switch op {
		case 0:
			err = p.seek(int64(n<<50) >> 50)
			if err == nil && p.src < 0 {
				err = errSeek
			}
		case 1:
			err = errUnknown
		case 2:
			d, err = p.take(d, n)
		case 3:
			err = p.copy(n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// beta2 reads big-endian commands of two or four bytes; the top three bits decide
// (docs/formats/nethack.md section 5.2).
func (p *patch) beta2(d []byte) error {
	for len(d) > 0 {
		op := d[0] >> 5
		size := 4
		if op < 4 || op == 7 {
			size = 2
		}
		if len(d) < size {
			return errTruncated
		}
		var arg uint64
		for _, b := range d[:size] {
			arg = arg<<8 | uint64(b)
		}
		d = d[size:]
		if op == 0 && arg == 0 {
			return nil
		}
		arg &= 1<<(8*size-3) - 1
		var err error
		switch op {
		case 0, 1, 2, 3:
			if err = p.copy(arg); err == nil {
				d, err = p.take(d, uint64(op)+1)
			}
		case 4:
			if err = p.copy(arg & (1<<25 - 1)); err == nil {
				d, err = p.take(d, arg>>25)
			}
		case 5:
			d, err = p.take(d, arg)
		case 6:
			err = p.seek(int64(arg<<35) >> 35)
		case 7:
			err = p.seek(int64(arg<<51) >> 51)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// take appends the next n bytes of the diff as literals and returns the rest.
func (p *patch) take(d []byte, n uint64) ([]byte, error) {
	if n > uint64(len(d)) {
		return nil, errTruncated
	}
	return d[n:], p.literal(int(n), len(p.diff)-len(d))
}

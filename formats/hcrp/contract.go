package hcrp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"recfs/formats"
	"recfs/formats/internal/indexfile"
)

var (
	_ formats.Head  = (*head)(nil)
	_ formats.Head  = (*ruin)(nil)
	_ formats.Index = (*index)(nil)
	_ formats.Index = (*ruin)(nil)
)

// A head is what is known of a recording once it is open.
type head struct {
	*Tables
	beside    bool // the schema lies beside the recording
	salvaging bool // there are frames that the index does not name
}

// reader returns what decodes the chunks of in, the recording.
func (h *head) reader(in formats.Input) *Reader { return &Reader{h.Tables, filesOf(in)} }

// open is the Open of the format.
func (o Options) open(ctx context.Context, in formats.Input) (formats.Head, error) {
	r, err := o.newReader(ctx, in)
	if bad, ok := formats.Coded(err); ok && in.ReaderAt == nil {
		return o.openLost(ctx, in, bad)
	}
	if err != nil {
		return nil, err
	}
	h := &head{Tables: r.Tables}
	h.schema, err = sidecar(ctx, h.Tables, in)
	if h.beside = h.schema != nil; err == nil && !h.beside {
		h.schema, err = o.choose(ctx, r)
	}
	if err != nil {
		return nil, err
	}
	if h.salvaging, err = h.reader(in).salvage().any(ctx); err != nil {
		return nil, err
	}
	return h, nil
}

// Append appends the head as it is kept on disk.
//
//	| preamble | salvaging | beside | checksum of the schema blob, empty without one |
func (h *head) Append(b []byte) []byte {
	sum := h.schemaSum()
	return indexfile.Append(b, func(c indexfile.Codec) { h.code(c, &h.preamble, &sum) })
}

func (h *head) code(c indexfile.Codec, p *preamble, sum *[]byte) {
	p.code(c)
	c.Values(&h.salvaging, &h.beside, sum)
}

// readHead reads what Append of a head wrote. It looks again for the dictionary, and for a schema
// beside the recording.
func (o Options) readHead(ctx context.Context, in formats.Input, saved []byte) (formats.Head, error) {
	h, p, sum := &head{}, preamble{}, []byte(nil)
	err := indexfile.Read(formatName, saved, func(c indexfile.Codec) { h.code(c, &p, &sum) })
	if err == nil {
		err = p.check(o.Limits.withDefaults())
	}
	if err == nil {
		h.Tables, err = o.newTables(ctx, p, in)
	}
	if err != nil {
		return nil, err
	}
	schema, err := sidecar(ctx, h.Tables, in)
	if err != nil {
		return nil, err
	}
	if schema != nil {
		h.schema, h.beside = schema, true
		return h, nil
	}
	known := !h.beside
	if known {
		h.schema, known = o.schemaWith(sum, h.Header)
	}
	if !known {
		return nil, formats.ErrOther
	}
	return h, nil
}

// Memory is about how many bytes the head takes: an entry takes 32 bytes, and 8 more for its place
// in the order of ticks.
func (h *head) Memory() int64 {
	return int64(1<<10 + len(h.metadata) + len(h.index) + 40*cap(h.entries) + 16*cap(h.segments) + 160*len(h.Problems))
}

// schemaSum returns the checksum of the schema, nil without one.
func (h *head) schemaSum() []byte {
	if h.schema == nil {
		return nil
	}
	return h.schema.sum[:]
}

// beside is the Beside of the format: an index depends on the schema and the dictionary.
func beside(found formats.Head) string {
	h, ok := found.(*head)
	if !ok {
		return ""
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%x %x", h.schemaSum(), h.dictSum))
	return hex.EncodeToString(sum[:8])
}

// besideFiles is the Files of [formats.Beside]. If a recording is a directory, all files in it are
// part of its version anyway.
func besideFiles(in formats.Input, found formats.Head) (names []string, ok bool) {
	h, ok := found.(*head)
	if !ok {
		return nil, false
	}
	id := h.Header.Dictionary
	if !h.Dir {
		names = sidecarNames(in.Name)
		if id != 0 {
			names = append(names, besideDictionaries(id)...)
		}
	}
	if id != 0 {
		names = append(names, "/"+dictionaryName(id))
	}
	return names, true
}

// scan is the Scan of the format. It decodes the chunks that an earlier index does not have.
func scan(ctx context.Context, in formats.Input, found formats.Head, earlier formats.Index) (formats.Index, error) {
	h, ok := found.(*head)
	if !ok {
		return found.(*ruin), nil
	}
	s := newIndexer(h.reader(in))
	if in.ReaderAt != nil {
		s.given = in.Size
	}
	if earlier != nil {
		if err := s.resume(ctx, earlier.(*index)); err != nil {
			return nil, err
		}
	}
	return s.run(ctx)
}

// readIndex reads what Append of an index wrote.
func readIndex(_ formats.Input, found formats.Head, saved []byte) (formats.Index, error) {
	if l, ok := found.(*ruin); ok {
		return l, nil // the head has all that the index has
	}
	h := found.(*head)
	x := &index{order: h.byTick, rows: newRows(h.Chunks())}
	err := indexfile.Read(formatName, saved, x.code)
	if err == nil {
		err = x.check(h.Tables)
	}
	if err != nil {
		return nil, err
	}
	if !x.holds(h.Tables) {
		return nil, formats.ErrOther
	}
	x.ticks.finish()
	return x, nil
}

// summary is the Summary of the format.
func summary(_ context.Context, rec formats.Recording, found formats.Index) (formats.Summary, error) {
	h, ok := rec.Head.(*head)
	if !ok {
		return rec.Head.(*ruin).summary(found), nil
	}
	id := h.Header.WorldID.String()
	s := formats.Summary{
		Version: strconv.Itoa(h.Header.Version), Layout: string(h.Header.Layout), Map: &id, Ticks: &h.Header.TickCount,
		HeaderProblems: slices.Values(h.Problems),
	}
	if h.Header.timestamp() != nil {
		s.Start = new(time.UnixMilli(h.Header.Timestamp).UTC())
	}
	if found == nil {
		return s, nil
	}
	x := found.(*index)
	s.Ticks, s.Chunks, s.Problems = new(h.totalTicks()), h.Chunks(), slices.Values(h.allProblems(x.problems))
	s.End, s.Complete = h.end(), x.complete
	s.Finished = s.End == endCompacted || s.End == endFinished
	if first, last := h.span(); first <= last {
		s.Duration = new(time.Duration(last-first+1) * msPerTick * time.Millisecond)
	}
	if hint := h.schema.hint(x); hint != "" {
		s.Details.Add("hint", hint)
	}
	return s, nil
}

// A ruin is a directory of segments whose preamble does not open. It stands for both its head and
// its index.
type ruin struct {
	why     *formats.Error
	salvage *salvageSource // nil: there is nothing to salvage
}

// openLost opens a directory whose preamble does not open. Unless it is of another version, the
// frames in its segments count as chunks, of the layout and version that its header still tells.
func (o Options) openLost(ctx context.Context, in formats.Input, why *formats.Error) (*ruin, error) {
	if why.Code == codeHeaderVersion {
		return &ruin{why: why}, nil
	}
	segments, _ := findSegments(in.Files)
	decoders, err := o.lostFormats(ctx, in)
	if err != nil {
		return nil, err
	}
	s := &salvageSource{files: filesOf(in), zstd: o.zstd, formats: decoders}
	for _, f := range segments {
		s.gaps = append(s.gaps, gap{place{f.number, 0}, f.size})
	}
	if found, err := s.any(ctx); err != nil || !found {
		return &ruin{why: why}, err
	}
	return &ruin{why, s}, nil
}

// lostFormats returns how the chunks of a directory whose preamble does not open may be decoded: if
// its header does not tell, with each of the built-in schemas.
func (o Options) lostFormats(ctx context.Context, in formats.Input) (list []eventFormat, err error) {
	limits := o.Limits.withDefaults()
	f, err := in.Files.Open(ctx, preambleName)
	if err != nil {
		return nil, err
	}
	head := make([]byte, 6) // to the end of the version
	if _, err := f.ReadAt(ctx, head, 0); err != nil && err != io.EOF {
		return nil, err
	}
	if head[4] != 0 {
		return []eventFormat{{layout: Design, limits: limits}}, nil
	}
	schemas, err := builtin()
	if err != nil {
		return nil, err
	}
	for _, schema := range schemas {
		format := eventFormat{Published, schema, limits}
		if slices.Contains(schema.Vers, int(head[5])) {
			return []eventFormat{format}, nil
		}
		list = append(list, format)
	}
	return list, nil
}

// Append implements formats.Head and formats.Index: nothing of it is kept.
func (l *ruin) Append(b []byte) []byte { return b }

// Memory implements formats.Head and formats.Index.
func (l *ruin) Memory() int64 { return 1 << 10 }

// Reach implements formats.Index.
func (l *ruin) Reach(string) int64 { return 0 }

func (l *ruin) summary(found formats.Index) (s formats.Summary) {
	if found != nil {
		s.Problems = slices.Values([]formats.Problem{formats.ErrorProblem(l.why)})
	}
	return s
}

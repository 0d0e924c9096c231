package web

import (
	"io"
	"net/http"
	"testing"

	"recfs/nodes"
)

// BenchmarkFirstPage asks for a page of folders of a thousand and of a million names. What files
// take is measured by BenchmarkServe of cmd/recfs.
func BenchmarkFirstPage(b *testing.B) {
	s := serve(b, nodes.Entry{Name: ".", Dir: nodes.List(
		nodes.Entry{Name: "few", Dir: ticks(1000)}, nodes.Entry{Name: "many", Dir: ticks(1000000)},
	)}, false, nil)
	for _, folder := range []string{"few", "many"} {
		b.Run(folder, func(b *testing.B) {
			for b.Loop() {
				r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, "http://"+s.addr+"/"+folder+"/", nil)
				if err != nil {
					b.Fatal(err)
				}
				reply, err := http.DefaultClient.Do(r)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, reply.Body); err != nil || reply.StatusCode != http.StatusOK {
					b.Error(reply.Status, err)
				}
				reply.Body.Close()
			}
		})
	}
}

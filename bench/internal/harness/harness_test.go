package harness

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseBenchmarks(t *testing.T) {
	got, err := parseBenchmarks(`goos: linux
pkg: recfs/formats/hcrp
BenchmarkLines-8             	       3	  90000000 ns/op	 123.50 MB/s
BenchmarkMedium/cold-16      	       5	    7250 ns/op	       2.5e+03 MiB-over
BenchmarkAlone
PASS
ok  	recfs/formats/hcrp	1.234s
`)
	want := []Result{
		{"Lines", map[string]float64{"ns/op": 9e7, "MB/s": 123.5}},
		{"Medium/cold", map[string]float64{"ns/op": 7250, "MiB-over": 2500}},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

// The process of the test is a process.
func TestProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc as here")
	}
	p := Process(os.Getpid())
	if n, err := p.Number("status", "VmRSS"); n < 1000 || err != nil {
		t.Errorf("%d KiB resident, %v", n, err)
	}
	if n, err := p.Number("status", "NoSuch"); err == nil {
		t.Errorf("a number of a key that is not there: %d", n)
	}
	if n, err := p.Files(); n < 3 || err != nil {
		t.Errorf("%d descriptors, %v", n, err)
	}
	if d, err := p.CPU(); d < 0 || err != nil {
		t.Errorf("%v of processor time, %v", d, err)
	}
}

func TestReadFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, make([]byte, 1<<20+5), 0o666); err != nil {
		t.Fatal(err)
	}
	if n, err := ReadFile(name); n != 1<<20+5 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	if _, err := ReadFile(name + "x"); err == nil {
		t.Error("a file that is not there can be read")
	}
}

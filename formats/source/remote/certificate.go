package remote

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"time"
)

// newTransport returns what sends requests. The file of certificates is read only if secure, where
// a server may be asked by TLS.
func newTransport(opt Options, secure bool) (*http.Transport, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost, t.MaxResponseHeaderBytes, t.DisableCompression = opt.Requests, 64<<10, true
	t.ResponseHeaderTimeout, t.TLSHandshakeTimeout = opt.Timeout, 15*time.Second
	name := opt.CAFile
	if name == "" {
		name = os.Getenv("AWS_CA_BUNDLE")
	}
	if !secure || name == "" {
		return t, nil
	}
	pem, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s: no certificate in PEM", name)
	}
	t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return t, nil
}

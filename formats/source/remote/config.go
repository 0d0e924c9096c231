package remote

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"gopkg.in/ini.v1"
)

const awsEndpoint = "https://s3.amazonaws.com"

// A config is what flags, environment and the shared files say of S3.
type config struct {
	endpoint *url.URL
	own      bool // the endpoint is not that of AWS
	region   string
	profile  string
	shared   map[string]string // what the shared files say in it
}

// loadConfig reads the configuration. What is wrong in shared files is as if it were not there.
func loadConfig(opt Options) (config, error) {
	c := config{profile: cmp.Or(opt.Profile, os.Getenv("AWS_PROFILE"), "default")}
	c.shared = sharedProfile(c.profile)
	name := cmp.Or(opt.Endpoint, os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), c.shared["endpoint_url"])
	c.own = name != ""
	u, err := url.Parse(cmp.Or(name, awsEndpoint))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return c, fmt.Errorf("--endpoint-url: not an address such as https://HOST:PORT")
	}
	if u.Path == "/" {
		u.Path = ""
	}
	c.endpoint = u
	c.region = cmp.Or(opt.Region, os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), c.shared["region"], "us-east-1")
	return c, nil
}

// sharedProfile returns what the shared files say in a profile.
func sharedProfile(profile string) map[string]string {
	home, _ := os.UserHomeDir()
	values := map[string]string{}
	for _, f := range []struct{ name, section string }{
		{cmp.Or(os.Getenv("AWS_CONFIG_FILE"), filepath.Join(home, ".aws", "config")), "profile " + profile},
		{cmp.Or(os.Getenv("AWS_SHARED_CREDENTIALS_FILE"), filepath.Join(home, ".aws", "credentials")), profile},
	} {
		file, err := ini.LoadSources(ini.LoadOptions{Loose: true, SkipUnrecognizableLines: true}, f.name)
		if err != nil {
			continue
		}
		for _, section := range []string{f.section, profile} {
			if s, err := file.GetSection(section); err == nil {
				for k, v := range s.KeysHash() {
					values[k] = v
				}
			}
		}
	}
	return values
}

// credentials returns where keys come from, the first that has some: environment, shared files, and
// what tells this container or instance.
func (c config) credentials(asker *http.Client) *credentials.Credentials {
	return credentials.NewChainCredentials([]credentials.Provider{
		&credentials.EnvAWS{},
		&credentials.FileAWSCredentials{Profile: c.profile},
		&credentials.Static{Value: credentials.Value{
			AccessKeyID: c.shared["aws_access_key_id"], SecretAccessKey: c.shared["aws_secret_access_key"], SessionToken: c.shared["aws_session_token"],
		}},
		&credentials.IAM{Client: asker, Region: c.region},
	})
}

package main

import (
	"errors"
	"testing"

	"github.com/spf13/pflag"
)

func TestMountOptions(t *testing.T) {
	newFlags := func() *pflag.FlagSet {
		flags := pflag.NewFlagSet("mount", pflag.ContinueOnError)
		flags.Bool("allow-other", false, "")
		flags.Uint32("uid", 0, "")
		flags.StringArray("schema", nil, "")
		flags.BoolP("foreground", "f", false, "")
		return flags
	}

	flags := newFlags()
	err := applyMountOptions(flags, []string{
		"rw,nosuid,nodev,relatime,_netdev,nofail,x-systemd.automount,user", "allow_other,uid=1000,schema=a.json", "schema=b=c.json",
	})
	if err != nil {
		t.Fatal(err)
	}
	if on, _ := flags.GetBool("allow-other"); !on {
		t.Error("allow_other is not set")
	}
	if uid, _ := flags.GetUint32("uid"); uid != 1000 {
		t.Error("uid is", uid)
	}
	if s, _ := flags.GetStringArray("schema"); len(s) != 2 || s[1] != "b=c.json" {
		t.Error("schemas are", s)
	}

	for _, bad := range []string{"frobnicate", "uid", "uid=x", "f", "allow_other=perhaps"} {
		var usage *usageError
		if err := applyMountOptions(newFlags(), []string{bad}); !errors.As(err, &usage) {
			t.Errorf("%s: %v, want a usage error", bad, err)
		}
	}
}

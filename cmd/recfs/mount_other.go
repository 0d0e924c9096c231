//go:build !(linux && (amd64 || arm64 || riscv64))

package main

import (
	"context"
	"errors"
)

var errNoMount = errors.New("mounting needs 64-bit Linux; recfs ls, cat, tree and cp work everywhere")

func (m *mountFlags) mount(context.Context, *env, []string) error { return errNoMount }

func unmount(string, bool) error { return errNoMount }

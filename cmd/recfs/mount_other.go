//go:build !(linux && (amd64 || arm64 || riscv64))

package main

import (
	"context"
	"errors"
)

func (m *mountFlags) mount(context.Context, *env, []string) error {
	return errors.New("mounting needs 64-bit Linux; recfs ls, cat, tree and cp work everywhere")
}

package main

import (
	"errors"
	"fmt"
	"strconv"
)

// octal is a flag value such as 022: permission bits.
type octal uint32

func (o *octal) Set(s string) error {
	n, err := strconv.ParseUint(s, 8, 32)
	if err != nil || n > 0o777 {
		return errors.New("not an octal number up to 777")
	}
	*o = octal(n)
	return nil
}

func (o *octal) String() string { return fmt.Sprintf("%#o", uint32(*o)) }
func (o *octal) Type() string   { return "mask" }

package main

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
)

// notOfType says what a value is not that a flag of pflag does not take. Our own flag values say so
// themselves.
var notOfType = map[string]string{
	"bool":   "not true or false",
	"int":    "not a whole number",
	"uint32": "not a number of 0 and more",
}

// flagError is the sentence for a person about an error of parsing flags.
func flagError(err error, flags *pflag.FlagSet) string {
	var (
		invalid *pflag.InvalidValueError
		missing *pflag.ValueRequiredError
		unknown *pflag.NotExistError
	)
	switch {
	case errors.As(err, &invalid):
		return "--" + invalid.GetFlag().Name + ": " + badValue(invalid)
	case errors.As(err, &missing):
		return "--" + missing.GetFlag().Name + " needs a value"
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return "unknown flag: -" + unknown.GetSpecifiedName()
	case errors.As(err, &unknown):
		return "unknown flag: --" + unknown.GetSpecifiedName() + didYouMean("--"+unknown.GetSpecifiedName(), flagNames(flags, "--"))
	}
	return err.Error()
}

// badValue says what is wrong with the value of a flag.
func badValue(err *pflag.InvalidValueError) string {
	text, ok := notOfType[err.GetFlag().Value.Type()]
	if !ok {
		text = errors.Unwrap(err).Error()
	}
	return fmt.Sprintf("%q is %s", err.GetValue(), text)
}

// flagNames returns the names of flags that help shows, each after a prefix.
func flagNames(flags *pflag.FlagSet, prefix string) (names []string) {
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, prefix+f.Name)
		}
	})
	return names
}

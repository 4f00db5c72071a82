package app

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

// flags are what the command line says.
type flags struct {
	hidden bool
	demo   string // directory of a throw-away desk, "" for the owner's own
	url    string
}

// errUsage is a command line that cannot be understood; it was explained already.
var errUsage = errors.New("usage")

func parseFlags(args []string, out io.Writer) (flags, error) {
	var f flags
	set := flag.NewFlagSet("countersign-desk", flag.ContinueOnError)
	set.SetOutput(out)
	set.BoolVar(&f.hidden, "hidden", false, "start in the tray; where there is none, minimised")
	set.StringVar(&f.demo, "demo", "", "`directory` of a desk that is thrown away")
	set.Usage = func() {
		_, _ = fmt.Fprintln(out, "countersign-desk [flags] [countersign://…]\n\nExample: countersign-desk --hidden") // nobody to tell
		set.PrintDefaults()
	}
	if err := set.Parse(args); errors.Is(err, flag.ErrHelp) {
		return f, err
	} else if err != nil {
		return f, errUsage
	}
	if set.NArg() > 1 {
		set.Usage()
		return f, errUsage
	}
	f.url = set.Arg(0)
	return f, nil
}

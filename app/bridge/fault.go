package bridge

import (
	"errors"
	"maps"

	"countersign/backend/config"
	"countersign/backend/wire"
)

// Codes of errors that others make and the phases depend on (state.Fault).
const (
	codeStoreLocked     = "store_locked"
	codePassphraseWrong = "passphrase_wrong"
	codePassphraseForm  = "passphrase_form"
)

// Codes of what keeps a core from opening and has none of its own.
const (
	codeConfigInvalid  = "config_invalid"  // args: detail with file, line and key
	codePassphraseFile = "passphrase_file" // the file that should hold the passphrase
)

// passphraseFileError is a passphrase file that could not be read.
type passphraseFileError struct{ error }

func (e *passphraseFileError) Unwrap() error { return e.error }

// codeCoreEnded is the fault of a core that ended by itself.
const codeCoreEnded = "core_ended"

// faultOf turns an error into a code with its arguments. An error without a code is a fault of ours, or of the system;
// its text is an argument, for whoever looks into it, and not the sentence.
func faultOf(err error) *Fault {
	out := &Fault{Code: CodeInternal, Args: map[string]string{}}
	var answered *wire.Error
	var coded interface{ Code() string }
	var conf *config.Error
	var file *passphraseFileError
	switch {
	case errors.As(err, &conf):
		out.Code = codeConfigInvalid
		out.Args["detail"] = conf.Error()
		if conf.Nearest != "" {
			out.Args["detail"] += " → " + conf.Nearest + "?"
		}
	case errors.As(err, &answered):
		out.Code = answered.Code
		maps.Copy(out.Args, answered.Args)
	case errors.As(err, &coded):
		out.Code = coded.Code()
	case errors.As(err, &file):
		out.Code = codePassphraseFile
	}
	var detailed interface{ Args() map[string]string }
	if errors.As(err, &detailed) {
		maps.Copy(out.Args, detailed.Args())
	}
	var hinted interface{ Hint() string }
	if errors.As(err, &hinted) && hinted.Hint() != "" {
		out.Args["hint"] = hinted.Hint()
	}
	if _, ok := out.Args["detail"]; !ok {
		out.Args["detail"] = err.Error()
	}
	return out
}

// wireError is a fault as a reply carries it.
func (f *Fault) wireError() *wire.Error { return &wire.Error{Code: f.Code, Args: f.Args} }

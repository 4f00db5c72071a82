package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"countersign/backend/agents"
	"countersign/backend/classify"
	"countersign/backend/config"
	"countersign/backend/core"
	"countersign/backend/desk"
	"countersign/backend/policy"
	"countersign/backend/server"
	"countersign/backend/wire"
)

type classifierCmd struct {
	SetKey    classifierSetKeyCmd    `cmd:"" name:"set-key" help:"Keep the endpoint's key in the keyring: typed on the terminal, or from standard input.\n\nExample: countersign classifier set-key <key.txt"`
	RemoveKey classifierRemoveKeyCmd `cmd:"" name:"remove-key" help:"Remove that key.\n\nExample: countersign classifier remove-key"`
	Test      classifierTestCmd      `cmd:"" help:"Show what would leave this machine about a call, send it once, and print the answer.\n\nExample: countersign classifier test -- npm test"`
}

// ownerTyped refuses what only a person may do. Nothing of it goes through the core, which would refuse an agent.
func ownerTyped() error {
	self, err := server.Self()
	if err != nil {
		return err
	}
	if _, below := agents.Known().Find(self.Chain); below {
		return &wire.Error{Code: "agent_not_allowed"}
	}
	return nil
}

// withDesk calls f with this desk's directories, when a person asks and there is a desk.
func withDesk(f func(ctx context.Context, dirs config.Dirs) error) error {
	if err := ownerTyped(); err != nil {
		return err
	}
	dirs, err := core.Directories()
	if err != nil {
		return err
	}
	if _, err := os.Stat(dirs.State); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("no desk is here yet (%s). The first start makes one: %s", escape(dirs.State, false), serveCommand(dirs))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return f(ctx, dirs)
}

type classifierSetKeyCmd struct{}

// maxKeyInput bounds what is read from standard input, in bytes: more is no key.
const maxKeyInput = 4 << 10

func (c *classifierSetKeyCmd) Run(s *streams) error {
	return withDesk(func(ctx context.Context, dirs config.Dirs) error {
		text, err := keyText(ctx, s)
		if err != nil {
			return err
		}
		if err := desk.SetClassifierKey(ctx, dirs.State, desk.NewSecret(text)); err != nil {
			return err
		}
		_, err = fmt.Fprintln(s.Out, "Kept in the keyring. A desk that runs uses it after its next start.")
		return err
	})
}

// keyText reads the key: from standard input where that was redirected, else from the terminal, without showing it.
func keyText(ctx context.Context, s *streams) (string, error) {
	if isTerminal(s.In) {
		text, err := askText(ctx, "Key of the classifier's endpoint: ")
		if errors.Is(err, errNoTerminal) {
			return "", errors.New("there is no terminal to type the key on. Redirect it: countersign classifier set-key <FILE")
		}
		return text, err
	}
	data, err := io.ReadAll(io.LimitReader(s.In, maxKeyInput))
	if err != nil {
		return "", fmt.Errorf("read the key: %w", err)
	}
	return strings.TrimRight(string(data), "\r\n"), nil
}

type classifierRemoveKeyCmd struct{}

func (c *classifierRemoveKeyCmd) Run(s *streams) error {
	return withDesk(func(ctx context.Context, dirs config.Dirs) error {
		if err := desk.RemoveClassifierKey(ctx, dirs.State); err != nil {
			return err
		}
		_, err := fmt.Fprintln(s.Out, "Removed from the keyring. A desk that runs forgets it when it ends.")
		return err
	})
}

type classifierTestCmd struct {
	DryRun  bool     `help:"Only show what would be sent."`
	Tool    string   `help:"The tool, as the agent names it." default:"bash"`
	Args    string   `help:"The tool's arguments as JSON, instead of words after --." placeholder:"JSON"`
	Command []string `arg:"" optional:"" passthrough:"" help:"The command (one word: a shell text; more: its words), or the path or URL of another tool."`
}

// Run ends with status 1 when no answer came, not when the answer is that the call is unsafe.
func (c *classifierTestCmd) Run(s *streams) error {
	call, err := c.call()
	if err != nil {
		fmt.Fprintf(s.Err, "countersign: %s\n", escape(err.Error(), false))
		return status(2)
	}
	return withDesk(func(ctx context.Context, dirs config.Dirs) error {
		conf, err := config.Load(dirs.File())
		if err != nil {
			return err
		}
		classifier, keyed, err := desk.OpenClassifier(ctx, conf, dirs.State)
		if err != nil {
			return err
		}
		defer classifier.Close()
		if classifier == nil {
			return errors.New(classifierSentence(classify.CodeNoModel))
		}
		text, code, detail := classify.Sent(call)
		if code != "" {
			return classifierFailed(s, policy.Classification{Err: code, Reason: detail})
		}
		key := "no key is kept, so none is sent"
		if keyed {
			key = "with the key that the keyring holds"
		}
		fmt.Fprintf(s.Out, "To %s (%s, model %s; %s), after fixed instructions:\n\n%s\n\n",
			escape(classifier.Address(), false), conf.Classifier.Kind, escape(conf.Classifier.Model, false), key, escape(text, false))
		if c.DryRun {
			_, err := fmt.Fprintln(s.Out, "Nothing was sent.")
			return err
		}
		answer := classifier.Classify(ctx, call)
		switch {
		case answer.Err != "":
			return classifierFailed(s, answer)
		case answer.Safe:
			fmt.Fprintf(s.Out, "SAFE  %s\nIn auto mode it would run without asking, where nothing else decides.\n", escape(answer.Reason, false))
		default:
			fmt.Fprintf(s.Out, "NOT SAFE  %s\nIn auto mode you would be asked.\n", escape(answer.Reason, false))
		}
		return nil
	})
}

// call is what the desk would send about this call of a session here, in auto mode.
func (c *classifierTestCmd) call() (classify.Call, error) {
	e := explainCmd{Tool: c.Tool, Args: c.Args, Command: c.Command}
	args, err := e.arguments()
	if err != nil {
		return classify.Call{}, err
	}
	call, view, err := e.call()
	if err != nil {
		return classify.Call{}, err
	}
	call.Tool, call.Args = c.Tool, args
	facts := policy.Examine(call, view)
	out := classify.NewCall(facts, args, policy.ModeAuto)
	out.RunsWorkspaceFile = desk.RunsWorkspaceFile(facts, call.Roots)
	return out, nil
}

// classifierFailed says why there is no answer.
func classifierFailed(s *streams, a policy.Classification) error {
	fmt.Fprintf(s.Out, "NO ANSWER  %s: %s\n", a.Err, classifierSentence(a.Err))
	if a.Reason != "" {
		fmt.Fprintf(s.Out, "  %s\n", escape(a.Reason, false))
	}
	fmt.Fprintln(s.Out, "In auto mode you would be asked.")
	return status(1)
}

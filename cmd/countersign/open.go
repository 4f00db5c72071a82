package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"countersign/backend/agents"
	"countersign/backend/config"
	"countersign/backend/core"
	"countersign/backend/server"
	"countersign/backend/wire"
)

const (
	// linkPrefix is what a link of ours begins with. The core takes no other spelling.
	linkPrefix = "countersign://"
	// maxLink is the longest link that is passed on, in bytes; the longest of ours has under a hundred.
	maxLink = 512
	// openWait is how long a person waits for a desk that this command started.
	openWait = 15 * time.Second
)

// openCmd is the handler of our links, and the second start of the desk: it loads no GUI library. It only shows; it
// answers, changes and grants nothing.
type openCmd struct {
	URL string `arg:"" optional:"" help:"A link of the desk: countersign://approval/ID, …/session/ID, …/project/ID, …/receipt/ID. Without one the window just opens."`
}

func (c *openCmd) Run(s *streams) error {
	if problem := linkProblem(c.URL); problem != "" {
		fmt.Fprintf(s.Err, "countersign: that is no link of the desk: %s.\n", problem)
		return status(2)
	}
	dirs, err := core.Directories()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), actionTimeout)
	defer cancel()
	client, err := core.Dial(ctx, dirs, "")
	if errors.Is(err, wire.ErrNoCore) {
		return c.start(dirs, err)
	}
	if err != nil {
		return err
	}
	defer client.Close()
	var opened wire.LinkOpened
	if err := client.Do(ctx, wire.ActionOpenLink, wire.OpenLink{URL: c.URL}, &opened); err != nil {
		return err
	}
	if opened.Window {
		return nil
	}
	fmt.Fprint(s.Err, "countersign: the core that runs has no window to show it in. See what waits with: countersign pending\n"+
		"For the window, end that core with countersign stop, and start the desk.\n")
	return status(1)
}

// start opens the desk with the link and waits until it answers. A core would refuse an agent; where none runs it is
// refused here, because a window opens by a person's act.
func (c *openCmd) start(dirs config.Dirs, noCore error) error {
	self, err := server.Self()
	if err != nil {
		return err
	}
	if _, below := agents.Known().Find(self.Chain); below {
		return &wire.Error{Code: "agent_not_allowed"}
	}
	if os.Getenv("COUNTERSIGN_NO_START") != "" {
		return noCore
	}
	var arguments []string
	if c.URL != "" {
		arguments = []string{c.URL}
	}
	ctx, cancel := context.WithTimeout(context.Background(), openWait+actionTimeout)
	defer cancel()
	client, err := core.Meet(ctx, core.MeetOptions{
		Dirs: dirs, Display: func() ([]string, bool) { return core.OwnDisplay(os.Environ()) },
		Serve: serveCommand(dirs), Wait: openWait, Window: true, Arguments: arguments,
	})
	if err != nil {
		return err
	}
	return client.Close()
}

// windowCanOpen reports whether the desk's window is installed here and has a display to open on.
func windowCanOpen() bool {
	_, installed := core.DeskInstalled()
	_, display := core.OwnDisplay(os.Environ())
	return installed && display
}

// linkProblem says what keeps a text from being a link of ours, "" when nothing does. What its parts name is for the
// core to find. It never repeats the text: a link can come from any web page.
func linkProblem(link string) string {
	switch {
	case link == "":
		return ""
	case len(link) > maxLink:
		return fmt.Sprintf("it has %d bytes, and a link has at most %d", len(link), maxLink)
	case !strings.HasPrefix(link, linkPrefix):
		return "it does not begin with " + linkPrefix
	case strings.ContainsFunc(link, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "it holds spaces, control characters or letters that a link does not have"
	}
	return ""
}

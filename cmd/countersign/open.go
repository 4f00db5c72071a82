package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"countersign/backend/agents"
	"countersign/backend/config"
	"countersign/backend/core"
	"countersign/backend/desk"
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
	URL string `arg:"" optional:"" help:"A link of the desk: countersign://approval/ID, …/session/ID, …/project/ID, …/receipt/ID, where ID may be its last characters. Without one the window just opens."`
}

func (c *openCmd) Run(s *streams) error {
	if problem := linkProblem(c.URL); problem != "" {
		fmt.Fprintf(s.Err, "countersign: that is no link of the desk: %s.\n%s", problem, linkForms)
		c.note()
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
	if opened.Link.Kind == wire.LinkUnknown {
		if err := c.named(ctx, client); err != nil {
			return err
		}
	}
	if opened.Window {
		return nil
	}
	fmt.Fprint(s.Err, "countersign: the core that runs has no window to show it in. See what waits with: countersign pending\n"+
		"For the window, end that core with countersign stop, and start the desk.\n")
	return status(1)
}

// note gives what was no link of ours, and yet begins like one, to the core that runs: whoever clicked it in a browser
// has no terminal to read, and sees a notice in the window.
func (c *openCmd) note() {
	if !looksLikeLink(c.URL) {
		return
	}
	_ = withCore(func(ctx context.Context, client *wire.Client) error {
		return client.Do(ctx, wire.ActionOpenLink, wire.OpenLink{URL: c.URL}, nil)
	}) // it was said on the terminal already
}

// named says why the core found nothing, or not one thing, under a link; nil when it is there.
func (c *openCmd) named(ctx context.Context, client *wire.Client) error {
	var err error
	link := desk.ParseLink(c.URL)
	switch whole := len(link.ID) >= fullID; link.Kind {
	case wire.LinkApproval:
		if whole { // also one that waits no longer
			return client.Do(ctx, wire.ActionGetQuestion, wire.GetQuestion{ID: link.ID}, nil)
		}
		_, err = findQuestion(ctx, client, link.ID)
	case wire.LinkSession:
		_, err = findSession(ctx, client, link.ID, true)
	case wire.LinkReceipt:
		_, err = findReceipt(ctx, client, link.ID)
	}
	return err
}

// start opens the desk with the link and waits until it answers. A core would refuse an agent; where none runs it is
// refused here, because a window opens by a person's act.
func (c *openCmd) start(dirs config.Dirs, noCore error) error {
	if err := notForAgents(); err != nil {
		return err
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
	defer client.Close()
	if c.URL == "" {
		return nil
	}
	return inTime(ctx, func(ctx context.Context) error { return c.named(ctx, client) })
}

// notForAgents refuses what only a person may start, below an agent and where that cannot be told: where no core runs,
// nobody else refuses it.
func notForAgents() error {
	self, err := server.Self()
	if err != nil {
		return err
	}
	if _, below := agents.Known().Find(self.Chain); below {
		return &wire.Error{Code: "agent_not_allowed"}
	}
	return nil
}

// windowCanOpen reports whether the desk's window is installed here and has a display to open on.
func windowCanOpen() bool {
	_, installed := core.DeskInstalled()
	_, display := core.OwnDisplay(os.Environ())
	return installed && display
}

// linkForms is what a link looks like, for whoever gave something else.
const linkForms = "A link is " + linkPrefix + " with approval, session, project or receipt, a slash, and an id or its last characters:\n" +
	"countersign open " + linkPrefix + "approval/3f9a1c20\n" +
	"The ids are in: countersign pending, countersign sessions, countersign receipts list\n"

// looksLikeLink reports whether a text begins like a link of ours and holds nothing that acts on whoever reads it.
func looksLikeLink(link string) bool {
	return len(link) <= maxLink && strings.HasPrefix(link, linkPrefix) && !strings.ContainsFunc(link, notInLinks)
}

func notInLinks(r rune) bool { return r <= ' ' || r > '~' }

// linkProblem says what keeps a text from being a link of ours, "" when nothing does. Whether what it names is here is for
// the core to say. It never repeats the text: a link can come from any web page.
func linkProblem(link string) string {
	rest, ours := strings.CutPrefix(link, linkPrefix)
	kind, id, _ := strings.Cut(rest, "/")
	switch {
	case link == "":
		return ""
	case len(link) > maxLink:
		return fmt.Sprintf("it has %d bytes, and a link has at most %d", len(link), maxLink)
	case !ours:
		return "it does not begin with " + linkPrefix
	case strings.ContainsFunc(link, notInLinks):
		return "it holds spaces, control characters or letters that a link does not have"
	case strings.Contains(link, "%"):
		return "it holds a percent sign, and nothing in a link is encoded"
	case desk.ParseLink(link).Kind != wire.LinkUnknown:
		return ""
	case !slices.Contains([]string{wire.LinkApproval, wire.LinkSession, wire.LinkProject, wire.LinkReceipt}, kind):
		return "what follows " + linkPrefix + " is not approval, session, project or receipt, in small letters"
	case id == "":
		return "it names no id"
	}
	return "what follows " + kind + "/ is no id: an id has letters, digits, - and _, and nothing comes after it"
}

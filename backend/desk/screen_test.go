package desk_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"countersign/backend/desk"
	"countersign/backend/wire"
)

// local is a process of the owner's account that is no agent and showed nothing.
func local() desk.Caller {
	return desk.Caller{Surface: desk.SurfaceSocket, Connection: 7, Peer: wire.Peer{
		UID: os.Getuid(), Complete: true, TTY: 34818, Session: 777777, Chain: []wire.Process{{PID: 777778, Start: 9}, {PID: 777777, Start: 8}},
	}}
}

func TestOpenLink(t *testing.T) {
	f := newFixture(t, `allow = ["write(ok.txt)"]`)
	f.ask("a.txt")
	q := f.only()
	f.propose("Write", map[string]any{"file_path": "ok.txt", "content": "x"})
	var receipts wire.Receipts
	f.must(f.desk.Owner(), wire.ActionListReceipts, wire.ListReceipts{}, &receipts)
	if len(receipts.Receipts) == 0 {
		t.Fatal("nothing was recorded")
	}
	record := receipts.Receipts[0].Record.ID
	nothing := wire.Link{Kind: wire.LinkUnknown}
	f.desk.SetWindow(true, false)
	for name, tt := range map[string]struct {
		url  string
		want wire.Link
	}{
		"only the window":       {"", wire.Link{}},
		"an approval":           {"countersign://approval/" + q.ID, wire.Link{Kind: wire.LinkApproval, ID: q.ID}},
		"a session":             {"countersign://session/" + q.Session, wire.Link{Kind: wire.LinkSession, ID: q.Session}},
		"a receipt":             {"countersign://receipt/" + record, wire.Link{Kind: wire.LinkReceipt, ID: record}},
		"a project":             {"countersign://project/x", wire.Link{Kind: wire.LinkProject, ID: "x"}},
		"the end of its id":     {"countersign://approval/" + q.ID[len(q.ID)-8:], wire.Link{Kind: wire.LinkApproval, ID: q.ID}},
		"of a session":          {"countersign://session/" + q.Session[len(q.Session)-8:], wire.Link{Kind: wire.LinkSession, ID: q.Session}},
		"of a receipt":          {"countersign://receipt/" + record[len(record)-8:], wire.Link{Kind: wire.LinkReceipt, ID: record}},
		"too short an end":      {"countersign://approval/" + q.ID[len(q.ID)-3:], nothing},
		"an end of none":        {"countersign://approval/00000000", nothing},
		"the beginning":         {"countersign://approval/" + q.ID[:8], nothing},
		"no such approval":      {"countersign://approval/" + uuid.NewString(), nothing},
		"no such session":       {"countersign://session/" + uuid.NewString(), nothing},
		"no such receipt":       {"countersign://receipt/" + uuid.NewString(), nothing},
		"an approval's session": {"countersign://approval/" + q.Session, nothing},
		"malformed":             {"countersign://approval/" + q.ID + "?allow", nothing},
	} {
		t.Run(name, func(t *testing.T) {
			var opened wire.LinkOpened
			f.must(local(), wire.ActionOpenLink, wire.OpenLink{URL: tt.url}, &opened)
			if opened.Link != tt.want || !opened.Window {
				t.Errorf("opened %+v, want %+v in a window", opened, tt.want)
			}
		})
	}
	f.desk.SetWindow(false, true)
	var opened wire.LinkOpened
	f.must(f.desk.Owner(), wire.ActionOpenLink, wire.OpenLink{}, &opened)
	if opened.Window {
		t.Error("a window that is not there shows links")
	}
	if code := f.do(f.agent, wire.ActionOpenLink, wire.OpenLink{}, nil); code != "agent_not_allowed" {
		t.Errorf("the agent opens links: %q", code)
	}
	if open := f.only(); open.State != "open" || !open.ShownAt.IsZero() {
		t.Errorf("a link changed the question: %+v", open)
	}
}

// TestManyLinksMoveTheScreensOnce: all are answered, and one of them is shown; another one a second later.
func TestManyLinksMoveTheScreensOnce(t *testing.T) {
	f := newFixture(t, "")
	sub, err := f.desk.Subscribe(f.desk.Owner(), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Cancel()
	for range 20 {
		f.must(local(), wire.ActionOpenLink, wire.OpenLink{URL: "countersign://project/x"}, nil)
	}
	f.clock.advance(time.Second)
	f.must(local(), wire.ActionOpenLink, wire.OpenLink{URL: "countersign://project/last"}, nil)
	for shown := 0; ; {
		frame := <-sub.Frames
		if frame.Frame != wire.FrameLinkOpened {
			continue
		}
		shown++
		if strings.Contains(string(frame.Data), "last") {
			if shown != 2 {
				t.Errorf("%d links were shown", shown)
			}
			return
		}
	}
}

func TestPreferences(t *testing.T) {
	f := newFixture(t, "")
	var got wire.Preferences
	f.must(local(), wire.ActionGetPreferences, wire.Empty{}, &got)
	if want := (wire.Preferences{Language: "system", Theme: "system", Letters: true}); got != want {
		t.Errorf("without a word of the owner: %+v, want %+v", got, want)
	}
	chosen := wire.Preferences{Language: "zh-CN", Theme: "dark", NotifyCommand: true}
	f.must(f.desk.Owner(), wire.ActionSetPreferences, chosen, &got)
	f.restart()
	f.must(f.desk.Owner(), wire.ActionGetPreferences, wire.Empty{}, &got)
	if got != chosen {
		t.Errorf("after a restart: %+v, want %+v", got, chosen)
	}
	for name, bad := range map[string]wire.Preferences{
		"nothing":         {},
		"no such tongue":  {Language: "tlh", Theme: "dark"},
		"no such theme":   {Language: "en", Theme: "pink"},
		"in another case": {Language: "EN", Theme: "dark"},
	} {
		if code := f.do(f.desk.Owner(), wire.ActionSetPreferences, bad, nil); code != wire.CodeBadArgument {
			t.Errorf("%s: %q", name, code)
		}
	}
	if code := f.do(local(), wire.ActionSetPreferences, chosen, nil); code != "presence_required" {
		t.Errorf("set without presence: %q", code)
	}
}

// While the window is open the owner answers there: a passphrase on a terminal would only serve whoever wants to answer
// unseen.
func TestOpenWindowTurnsTerminalsOff(t *testing.T) {
	f := newFixture(t, "")
	person, unlock := local(), wire.UnlockTerminal{Passphrase: passphrase}
	ask := wire.UnlockTerminal{}
	if code := f.do(person, wire.ActionUnlockTerminal, ask, nil); code != "passphrase_unset" {
		t.Errorf("asked without a passphrase being set: %q", code)
	}
	if err := f.desk.SetPassphrase(desk.NewSecret(passphrase)); err != nil {
		t.Fatal(err)
	}
	for range 5 { // asking is no guess, so it makes nobody wait
		if code := f.do(person, wire.ActionUnlockTerminal, ask, nil); code != "presence_required" {
			t.Errorf("asked: %q, want presence_required", code)
		}
	}
	pause := wire.PauseDesk{Seconds: 60}
	f.must(person, wire.ActionUnlockTerminal, unlock, nil)
	f.must(person, wire.ActionPauseDesk, pause, nil)

	f.desk.SetWindow(true, true)
	var st wire.Status
	f.must(person, wire.ActionStatus, wire.Empty{}, &st)
	if st.Unlocked || !st.Window || st.Wire != wire.Version {
		t.Errorf("status with an open window: %+v", st)
	}
	for name, code := range map[string]string{
		"unlocked before":   f.do(person, wire.ActionPauseDesk, pause, nil),
		"unlocking":         f.do(person, wire.ActionUnlockTerminal, unlock, nil),
		"asking to unlock":  f.do(person, wire.ActionUnlockTerminal, ask, nil),
		"without presence":  f.do(desk.Caller{Surface: desk.SurfaceSocket, Peer: person.Peer}, wire.ActionPauseDesk, pause, nil),
		"looking is no act": "window_open" + f.do(person, wire.ActionListQuestions, wire.ListQuestions{}, nil),
	} {
		if code != "window_open" {
			t.Errorf("%s: %q, want window_open", name, code)
		}
	}
	f.must(f.desk.Owner(), wire.ActionPauseDesk, pause, nil)

	f.desk.SetWindow(true, false)
	f.must(person, wire.ActionPauseDesk, pause, nil)
}

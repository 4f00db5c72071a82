package desk_test

import (
	"testing"

	"github.com/google/uuid"

	"countersign/backend/desk"
	"countersign/backend/wire"
)

// A browser that came with a link looks and does nothing else; the list of what is open to agents does not apply to it.
func TestABrowserLooksOnly(t *testing.T) {
	f := newFixture(t, "")
	f.bash("touch x")
	q := f.only()
	browser := desk.Caller{Connection: 99, Surface: desk.SurfaceBrowser}

	var list wire.Questions
	f.must(browser, wire.ActionListQuestions, wire.ListQuestions{}, &list)
	if len(list.Questions) != 1 || len(list.Questions[0].Detail) == 0 {
		t.Errorf("it sees %+v", list)
	}
	var status wire.Status
	f.must(browser, wire.ActionStatus, wire.Empty{}, &status)
	if status.Unlocked {
		t.Error("it is told that its answers count")
	}
	f.must(browser, wire.ActionListReceipts, wire.ListReceipts{}, nil)
	f.must(browser, wire.ActionListSessions, wire.ListSessions{}, nil)
	sub, err := f.desk.Subscribe(browser, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	sub.Cancel()

	for _, tt := range []struct {
		action string
		in     any
	}{
		{wire.ActionQuestionReply, wire.QuestionReply{ID: q.ID, Version: q.Version, Offer: 1}},
		{wire.ActionQuestionReject, wire.QuestionReject{ID: q.ID, Version: q.Version}},
		{wire.ActionSetPermissionMode, wire.SetPermissionMode{Session: q.Session, Mode: "bypass"}},
		{wire.ActionRemoveRule, wire.RemovePermissionRule{ID: uuid.NewString()}},
		{wire.ActionImportRules, wire.ImportRules{Agent: "claude"}},
		{wire.ActionAdmitCall, wire.AdmitCall{}},
		{wire.ActionRedeemCall, wire.RedeemCall{Call: q.Call}},
		{wire.ActionCancelCall, wire.CancelCall{Call: q.Call}},
	} {
		if code := f.do(browser, tt.action, tt.in, nil); code != "presence_required" {
			t.Errorf("%s: %q, want presence_required", tt.action, code)
		}
	}
	if code := f.do(browser, wire.ActionUnlockTerminal, wire.UnlockTerminal{Passphrase: passphrase}, nil); code != "no_terminal" {
		t.Errorf("unlock_terminal: %q, want no_terminal", code)
	}
	f.desk.Gone(browser)
	if after := f.only(); after.Version != q.Version {
		t.Errorf("the question changed: %+v", after)
	}
}

func TestCheckPassphrase(t *testing.T) {
	f := newFixture(t, "")
	if err := f.desk.CheckPassphrase(desk.NewSecret(passphrase)); err == nil || desk.WrongPassphrase(err) {
		t.Errorf("none is set: %v", err)
	}
	if err := f.desk.SetPassphrase(desk.NewSecret(passphrase)); err != nil {
		t.Fatal(err)
	}
	if err := f.desk.CheckPassphrase(desk.NewSecret("another one")); !desk.WrongPassphrase(err) {
		t.Errorf("a wrong one: %v", err)
	}
	if err := f.desk.CheckPassphrase(desk.NewSecret(passphrase)); err != nil {
		t.Errorf("the right one: %v", err)
	}
}

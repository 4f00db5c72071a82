package app

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/wailsapp/wails/v2/pkg/runtime"

	"countersign/app/bridge"
	"countersign/app/i18n"
	"countersign/app/notify"
	"countersign/backend/wire"
)

// Codes of notifications that are not there.
const (
	codeNoNotifications = "no_notification_service"
	codeNotAllowed      = "notifications_not_allowed" // the owner has turned them off for this app
	codeNoticesStarting = "notifications_starting"    // not there yet
)

// noticeBoard is where the desktop shows notifications.
type noticeBoard interface {
	// Open makes it ready; respond is called for every action that the desktop reports.
	Open(respond func(notification, action string)) error
	Label(language string) error
	Send(n notify.Notification) error
	Withdraw(id string) error
	Close()
}

// noNotices stands for a desktop without notifications.
type noNotices struct{}

func (noNotices) Open(func(string, string)) error { return &wire.Error{Code: codeNoNotifications} }
func (noNotices) Label(string) error              { return nil }
func (noNotices) Send(notify.Notification) error  { return &wire.Error{Code: codeNoNotifications} }
func (noNotices) Withdraw(string) error           { return nil }
func (noNotices) Close()                          {}

// notices returns the library's notifications. Its context is the library's own.
func notices(ctx context.Context) noticeBoard { return libraryNotices{ctx} }

type libraryNotices struct{ ctx context.Context }

// The categories carry the buttons: one for a single question, one for several, which cannot be denied at once.
const (
	categoryOne  = "countersign.one"
	categoryMany = "countersign.many"
)

func (n libraryNotices) Open(respond func(notification, action string)) error {
	if err := runtime.InitializeNotifications(n.ctx); err != nil {
		return &wire.Error{Code: codeNoNotifications, Args: map[string]string{"detail": err.Error()}}
	}
	if allowed, err := runtime.RequestNotificationAuthorization(n.ctx); err != nil || !allowed {
		return &wire.Error{Code: codeNotAllowed}
	}
	runtime.OnNotificationResponse(n.ctx, func(r runtime.NotificationResult) {
		if r.Error == nil {
			respond(r.Response.ID, r.Response.ActionIdentifier)
		}
	})
	return nil
}

func (n libraryNotices) Label(language string) error {
	review := runtime.NotificationAction{ID: notify.ActionReview, Title: i18n.T(language, "notify.action_review", nil)}
	deny := runtime.NotificationAction{ID: notify.ActionDeny, Title: i18n.T(language, "notify.action_deny", nil), Destructive: true}
	if err := runtime.RegisterNotificationCategory(n.ctx, runtime.NotificationCategory{
		ID: categoryOne, Actions: []runtime.NotificationAction{review, deny},
	}); err != nil {
		return err
	}
	return runtime.RegisterNotificationCategory(n.ctx, runtime.NotificationCategory{ID: categoryMany, Actions: []runtime.NotificationAction{review}})
}

func (n libraryNotices) Send(what notify.Notification) error {
	category := categoryMany
	if what.Deny {
		category = categoryOne
	}
	return runtime.SendNotificationWithActions(n.ctx, runtime.NotificationOptions{
		ID: what.ID, Title: what.Title, Body: what.Body, CategoryID: category,
	})
}

func (n libraryNotices) Withdraw(id string) error { return runtime.RemoveNotification(n.ctx, id) }
func (n libraryNotices) Close()                   { runtime.CleanupNotifications(n.ctx) }

// startNotices makes notifications ready, or says why there are none.
func (s *shell) startNotices(board noticeBoard) {
	if !s.desktop.notifications {
		return // as the status says already
	}
	if err := board.Open(func(notification, action string) {
		s.guarded("an answer to a notification", func() { s.responded(notification, action) })
	}); err != nil {
		s.notNoticed(err)
		return
	}
	if err := board.Label(s.language()); err != nil {
		s.log.Error("name the buttons of notifications", "error", err)
	}
	s.mu.Lock()
	s.notices = board
	s.mu.Unlock()
	s.host.SetNotifications(bridge.Part{Available: true})
}

// notNoticed records that the desktop shows no notifications.
func (s *shell) notNoticed(err error) {
	s.log.Warn("notifications", "error", err)
	code := codeNoNotifications
	var coded *wire.Error
	if errors.As(err, &coded) {
		code = coded.Code
	}
	s.host.SetNotifications(bridge.Part{Code: code})
}

func (s *shell) board() noticeBoard {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.notices
}

// carryOut shows and takes back what the schedule says.
func (s *shell) carryOut(e notify.Effects) {
	board := s.board()
	for _, id := range e.Withdraw {
		if err := board.Withdraw(id); err != nil {
			s.log.Warn("take back a notification", "error", err)
		}
	}
	for _, n := range e.Send {
		_ = s.send(board, n) // it says itself what went wrong
	}
}

func (s *shell) send(board noticeBoard, n notify.Notification) error {
	err := board.Send(s.desktop.inert(n))
	if err != nil {
		s.notNoticed(err)
		return err
	}
	s.host.SetNotifications(bridge.Part{Available: true})
	return nil
}

// testNotification sends one that stands for nothing.
func (s *shell) testNotification(context.Context) error {
	language := s.language()
	if err := s.send(s.board(), notify.Notification{
		ID: "countersign-test-" + uuid.NewString(), Title: i18n.T(language, "notify.test_title", nil), Body: i18n.T(language, "notify.test_body", nil),
	}); err != nil {
		return &wire.Error{Code: codeNoNotifications}
	}
	return nil
}

// responded does what a click on a notification asks for: open a card, or deny the one question it stands for. Whatever
// else a desktop reports does nothing, since a dismissal may look like it.
func (s *shell) responded(notification, action string) {
	act := s.follower.respond(notification, action)
	switch {
	case act.Review != "":
		s.navigate(bridge.Navigate{Page: pageInbox, Question: act.Review})
	case act.Deny != "":
		c := s.host.Core()
		if c == nil {
			return
		}
		ctx, cancel := context.WithTimeout(s.ctx, handOverTimeout)
		defer cancel()
		// Call makes a new command id: this click is one answer. What was answered meanwhile stays as it is.
		if err := bridge.Call(ctx, c, wire.ActionQuestionReject, wire.QuestionReject{ID: act.Deny, Version: act.Version}, nil); err != nil {
			s.log.Warn("deny from a notification", "error", err)
		}
	}
}

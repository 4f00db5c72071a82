package notify

import (
	"strconv"

	"countersign/app/i18n"
)

// Limits of a notification's text, in characters. It decides nothing, so it may be cut; the card never is.
const (
	maxName    = 60
	maxCommand = 200
)

// words writes the notification of a session.
func (s *Scheduler) words(of *session, reminder bool) Notification {
	title := "notify.title"
	if reminder {
		title = "notify.title_reminder"
	}
	first := of.waiting[0]
	args := map[string]string{
		"agent": AgentName(s.wishes.Language, first.Agent), "tool": i18n.Plain(first.Tool, maxName), "project": s.project(first.Project),
		"count": strconv.Itoa(len(of.waiting)), "command": i18n.Plain(first.Command, maxCommand),
	}
	body := "notify.body_one"
	var more string
	switch {
	case len(of.waiting) > 1:
		body = "notify.body_many"
	case s.wishes.Command && first.Command != "":
		more = "\n" + i18n.T(s.wishes.Language, "notify.body_command", args)
	}
	return Notification{
		ID: of.shown, Title: i18n.T(s.wishes.Language, title, args), Body: i18n.T(s.wishes.Language, body, args) + more, Deny: of.denies != "",
	}
}

func (s *Scheduler) project(name string) string {
	if name == "" {
		return i18n.T(s.wishes.Language, "notify.no_project", nil)
	}
	return i18n.Plain(name, maxName)
}

// AgentName is an agent's name for a person: the catalogue's, or the one it goes by.
func AgentName(language, agent string) string {
	key := "agent." + agent
	if name := i18n.T(language, key, nil); name != key {
		return name
	}
	return i18n.Plain(agent, maxName)
}

package notify

// The actions of a notification. Whatever else a desktop reports, a dismissal or a click on the notification itself, does
// nothing.
const (
	ActionReview = "review"
	ActionDeny   = "deny"
)

// Act is what a person's click on a notification asks for. The zero value asks for nothing.
type Act struct {
	Review string // the question whose card is to be opened
	Deny   string // the question to deny
	// Version of the question to deny, as it was announced or updated since.
	Version int
}

// Respond returns what an action on a notification asks for. One that was taken back, or that was never sent, asks for
// nothing.
func (s *Scheduler) Respond(notification, action string) Act {
	of := s.sessions[s.owner[notification]]
	if of == nil || of.shown != notification || len(of.waiting) == 0 {
		return Act{}
	}
	switch action {
	case ActionReview:
		return Act{Review: of.waiting[0].ID}
	case ActionDeny:
		for _, w := range of.waiting {
			if w.ID == of.denies {
				return Act{Deny: w.ID, Version: w.Version}
			}
		}
	}
	return Act{}
}

package wire

import "time"

// QuestionShown tells that a card was put in front of the owner. The core remembers the first time.
type QuestionShown struct {
	ID      string `json:"id"`
	Version int    `json:"version"`
}

// ShownResult says when a card was first shown, and from when on the core takes an answer to it.
type ShownResult struct {
	ShownAt   time.Time `json:"shown_at"`
	AnswersAt time.Time `json:"answers_at"`
}

// ExtendQuestion gives the owner more time. The result is the question with its new expiry; the version stays, because
// nothing that was shown has changed.
type ExtendQuestion struct {
	ID      string `json:"id"`
	Version int    `json:"version"`
}

// GetChanges asks what a call that writes files would change, compared with the files as they were approved and as they
// are now.
type GetChanges struct {
	Question string `json:"question"`
}

// Changes is what a call would change, file by file.
type Changes struct {
	Files []FileChange `json:"files"`
}

// The kinds of a FileChange.
const (
	ChangeCreate = "create"
	ChangeEdit   = "edit"
	ChangeBinary = "binary"    // not text: only sizes are told
	ChangeLarge  = "too_large" // over the limit of a diff: only sizes are told
	ChangeFailed = "failed"    // the change cannot be worked out; Problem says why
)

// FileChange is the change of one file.
type FileChange struct {
	Path    string `json:"path"`
	Kind    string `json:"kind"`
	Added   int    `json:"added"`   // lines
	Removed int    `json:"removed"` // lines
	Before  int64  `json:"before"`  // bytes; -1 where there is no file
	After   int64  `json:"after"`   // bytes; -1 when that is not known
	// Stale says that the file is no longer what it was when the call was proposed: an allow would be refused.
	Stale   bool       `json:"stale,omitempty"`
	Problem string     `json:"problem,omitempty"` // code, with Kind ChangeFailed
	Hunks   []DiffHunk `json:"hunks,omitempty"`
}

// DiffHunk is a run of changed lines with what is around them. Lines count from 1.
type DiffHunk struct {
	OldStart int        `json:"old_start"`
	NewStart int        `json:"new_start"`
	Lines    []DiffLine `json:"lines"`
}

// DiffLine is one line of a hunk: Op is " ", "+" or "-". Text is without its line end.
type DiffLine struct {
	Op   string `json:"op"`
	Text string `json:"text"`
	// NoNewline says that this last line of its text has no line end.
	NoNewline bool `json:"no_newline,omitempty"`
}

// PauseSession refuses everything of an agent's process from now on, until resume_session.
type PauseSession struct {
	Session string `json:"session"`
}

// PauseForever is PauseDesk.Seconds for "until resumed".
const PauseForever = -1

// PauseDesk refuses every new call for so many seconds, PauseForever until resumed, 0 resumes.
type PauseDesk struct {
	Seconds int `json:"seconds"`
}

// DeskPause says whether the desk refuses every new call.
type DeskPause struct {
	Paused bool      `json:"paused"`
	Until  time.Time `json:"until,omitzero"` // zero while paused: until resumed
}

// TestRequest has the desk propose a harmless call of its own, so that the whole way of an approval can be tried.
type TestRequest struct{}

// OpenLink shows what a link of ours names. It only navigates.
type OpenLink struct {
	URL string `json:"url"` // "countersign://…"; empty: only open the window
}

// LinkOpened says what became of a link.
type LinkOpened struct {
	Link   Link `json:"link"`
	Window bool `json:"window"` // a window is there to show it
}

// The kinds of a Link.
const (
	LinkNone     = "" // open the window
	LinkApproval = "approval"
	LinkSession  = "session"
	LinkProject  = "project"
	LinkReceipt  = "receipt"
	LinkUnknown  = "unknown" // malformed, or it names nothing that is here: a notice, nothing else
)

// Link is what a link of ours names.
type Link struct {
	Kind string `json:"kind"`
	ID   string `json:"id,omitempty"`
}

// Preferences are how the owner wants the desk's screens. They decide nothing.
type Preferences struct {
	Language string `json:"language"` // "system", "en", "zh-CN"
	Theme    string `json:"theme"`    // "system", "light", "dark"
	// Letters says that single letters act as keys while the list or a card has the focus.
	Letters bool `json:"letters"`
	// NotifyCommand says that notifications name the command, not only tool and project.
	NotifyCommand bool `json:"notify_command"`
}

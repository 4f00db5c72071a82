package app

import (
	"html"
	"strings"

	"countersign/app/notify"
)

// inert writes a notification so that no desktop reads its words as anything but words. They come from agents.
func (d desktop) inert(n notify.Notification) notify.Notification {
	if d.markup {
		n.Body = html.EscapeString(n.Body) // the title is plain text everywhere
	}
	if d.script {
		n.Title, n.Body = noScript.Replace(n.Title), noScript.Replace(n.Body)
	}
	return n
}

// noScript takes the meaning out of what the library's template on Windows does not quote: the text goes raw into a CDATA
// section, and where COM fails into a PowerShell here-string, in which "$(…)" would run. Each character is replaced by one
// that reads the same.
var noScript = strings.NewReplacer("$", "＄", "`", "ˋ", `"`, "”", "]]>", "]]＞")

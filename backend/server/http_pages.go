package server

import (
	"bytes"
	"fmt"
	"html"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

// contentTypes are the kinds of files there are among the pages. The machine's own table is not asked: on some systems any
// program may change it, and a script that is called text does not run.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml", ".png": "image/png", ".ico": "image/x-icon", ".woff2": "font/woff2", ".txt": "text/plain; charset=utf-8",
	".json": "application/json",
}

// hashed is where the files lie whose names change with their content.
const hashed = "assets/"

// servePage serves one built file. There are no listings: a directory is not found.
func (h *HTTP) servePage(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "" {
		name = "index.html"
	}
	kind, known := contentTypes[path.Ext(name)]
	text, err := []byte(nil), fs.ErrNotExist
	if known && fs.ValidPath(name) {
		text, err = fs.ReadFile(h.pages, name)
	}
	if err != nil {
		notice(w, http.StatusNotFound, "Not found", "There is no such page.")
		return
	}
	w.Header().Set("Content-Type", kind)
	if strings.HasPrefix(name, hashed) {
		w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(text))
}

// notice answers with a short page that says what happened and what to do.
func notice(w http.ResponseWriter, status int, title, text string) {
	page(w, status, title, "", html.EscapeString(text))
}

// page writes a page of ours: nothing in it comes from a request.
func page(w http.ResponseWriter, status int, title, head, body string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	title = html.EscapeString(title)
	_, _ = fmt.Fprintf(w, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">%s\n<title>%s · Countersign</title>\n</head>\n<body>\n<h1>%s</h1>\n<p>%s</p>\n</body>\n</html>\n", head, title, title, body)
}

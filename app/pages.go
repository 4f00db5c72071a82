package app

import (
	"io/fs"
	"log/slog"
	"net/http"

	"countersign/app/bridge"
)

// contentSecurityPolicy is the same as for a browser. The library adds two scripts of its own to the page, both from the
// page's own origin, and runs what it has to say to the page past the policy, as whoever embeds a page may.
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// servePages serves the built pages and nothing else.
func servePages(pages fs.FS, log *slog.Logger) http.Handler {
	files := http.FileServerFS(regular{pages})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A panic in here would end the app.
		if !bridge.Guarded(log, "serving the page", func() {
			w.Header().Set("Content-Security-Policy", contentSecurityPolicy)
			w.Header().Set("X-Content-Type-Options", "nosniff")
			w.Header().Set("Referrer-Policy", "no-referrer")
			if r.Method != http.MethodGet {
				http.NotFound(w, r)
				return
			}
			files.ServeHTTP(w, r)
		}) {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
}

// regular is a file system without the listings of directories.
type regular struct{ fs.FS }

func (r regular) Open(name string) (fs.File, error) {
	f, err := r.FS.Open(name)
	if err != nil || name == "." {
		return f, err
	}
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() {
		return f, nil
	}
	_ = f.Close() // it was only looked at
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

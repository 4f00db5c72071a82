package app

import "os"

// The variables of WebKitGTK that this program sets or takes away.
const (
	disableDMABuf = "WEBKIT_DISABLE_DMABUF_RENDERER" // with it on, some drivers leave the window blank
	httpInspector = "WEBKIT_INSPECTOR_HTTP_SERVER"   // opens the page, and so the owner's rights, to any local process
	inspector     = "WEBKIT_INSPECTOR_SERVER"        // the same over another protocol
)

// prepareEnvironment sets what WebKitGTK reads when it starts. What the owner has set for drawing stays.
func prepareEnvironment() {
	if _, set := os.LookupEnv(disableDMABuf); !set {
		_ = os.Setenv(disableDMABuf, "1") // a name and a value that cannot fail
	}
	_ = os.Unsetenv(httpInspector)
	_ = os.Unsetenv(inspector)
}

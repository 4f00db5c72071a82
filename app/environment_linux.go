package app

import "os"

// The variables of WebKitGTK that this program sets or takes away.
const (
	disableDMABuf = "WEBKIT_DISABLE_DMABUF_RENDERER" // with it on, some drivers leave the window blank
	// The monitor reads the machine's memory every few seconds for as long as the window lives, and the page's
	// process its own every half minute, so that pages are told to hold less. Ours holds little, and a desk at rest
	// should rest.
	disableMemoryMonitor = "WEBKIT_DISABLE_MEMORY_PRESSURE_MONITOR"

	httpInspector = "WEBKIT_INSPECTOR_HTTP_SERVER" // opens the page, and so the owner's rights, to any local process
	inspector     = "WEBKIT_INSPECTOR_SERVER"      // the same over another protocol
)

// prepareEnvironment sets what WebKitGTK reads when it starts. What the owner has set of it stays.
func prepareEnvironment() {
	for _, name := range []string{disableDMABuf, disableMemoryMonitor} {
		if _, set := os.LookupEnv(name); !set {
			_ = os.Setenv(name, "1") // a name and a value that cannot fail
		}
	}
	_ = os.Unsetenv(httpInspector)
	_ = os.Unsetenv(inspector)
}

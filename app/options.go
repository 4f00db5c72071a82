package app

import (
	"context"
	"io/fs"

	"github.com/wailsapp/wails/v2/pkg/logger"
	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/options/assetserver"
	"github.com/wailsapp/wails/v2/pkg/options/linux"
	"github.com/wailsapp/wails/v2/pkg/options/mac"
	"github.com/wailsapp/wails/v2/pkg/options/windows"

	"countersign/app/i18n"
)

// The window's sizes, in pixels of the desktop. The smallest width leaves the page 320 CSS pixels and its scroll bar.
const (
	width, height       = 1240, 800
	minWidth, minHeight = 360, 480
)

// programName is the name of the desktop entry, which ties the window to its icon and group.
const programName = "dev.countersign.Desk"

// windowOptions says how the library opens the window. There is no menu of the browser, no inspector, and nothing can be
// dropped; zooming stays, because it is how many people read.
func (s *shell) windowOptions(pages fs.FS, icon []byte) *options.App {
	title := "app.title"
	if s.flags.demo != "" {
		title = "app.title_demo"
	}
	colour := background(s.desktop.dark)
	return &options.App{
		Title: i18n.T(s.language(), title, nil), Width: width, Height: height, MinWidth: minWidth, MinHeight: minHeight,
		StartHidden: s.startsHidden() || s.showsWhenReady(), WindowStartState: s.startState(), BackgroundColour: &colour,
		AssetServer: &assetserver.Options{Handler: servePages(pages, s.log)},
		Bind:        []any{s.host.Page()},
		OnStartup: func(ctx context.Context) {
			s.guarded("startup", func() { s.startup(&libraryWindow{ctx: ctx}, notices(ctx)) })
		},
		OnDomReady:         func(context.Context) { s.guarded("page ready", s.pageReady) },
		OnBeforeClose:      func(context.Context) bool { return s.beforeClose() },
		OnShutdown:         func(context.Context) { s.guarded("shutdown", s.shutdown) },
		LogLevelProduction: logger.ERROR,
		DragAndDrop:        &options.DragAndDrop{DisableWebViewDrop: true},
		Linux:              &linux.Options{Icon: icon, WebviewGpuPolicy: linux.WebviewGpuPolicyNever, ProgramName: programName},
		Mac: &mac.Options{
			OnUrlOpen: func(url string) { s.guarded("link", func() { s.open(url) }) },
			// Escape goes back in the page.
			DisableEscapeExitsFullscreen: true,
			About:                        &mac.AboutInfo{Title: "Countersign", Icon: icon},
		},
		Windows: &windows.Options{
			Theme: windows.SystemDefault, IsZoomControlEnabled: true, WebviewUserDataPath: s.webViewData(),
		},
	}
}

// background is the colour before the page is drawn, so that nothing flashes: the desk's own in the page's style.
func background(dark bool) options.RGBA {
	if dark {
		return options.RGBA{R: 0x15, G: 0x17, B: 0x1a, A: 0xff}
	}
	return options.RGBA{R: 0xf3, G: 0xf1, B: 0xec, A: 0xff}
}

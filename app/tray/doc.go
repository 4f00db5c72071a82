// Package tray is the parent's side of the icon in the notification area: what stands in its menu, and the helper process
// that shows it.
//
// The icon lives in a process of its own (cmd/countersign-tray), because its library and the window's both want the main
// loop of a process and take each other down with them. The two talk in JSON lines, each at most maxLine bytes: states go
// down the helper's standard input, events come up its standard output. The end of its input ends the helper, however
// its parent died; what is no message ends the conversation, and the helper is started again.
//
// The tray only shows and navigates. Nothing in it allows a call; the one thing that decides is pausing, which refuses.
// A click names what the menu offered, and what it did not offer is ignored.
//
// Limits: that the helper answers shows that its own loop lives, not that a panel draws the icon; whether this desktop has
// a place for it is not known here. A menu that is open while the state changes may be clicked a moment too late: the
// click opens another card, and a card decides nothing.
package tray

// Package bridge is what the window's page can ask: one method that takes a request of the wire and answers it, and a
// few actions of the app itself. It opens the core in this process, asks for the passphrase through the page, and
// forwards the core's frames as events.
//
// It knows no window library: events leave through a function that is handed in. It decides nothing about calls. The page
// speaks with the owner's rights, because whoever can run script in it is the owner's own program; no other content is
// ever loaded there.
//
// Known limit: a core that another account's administrator freezes while it is asked to end keeps the app in the phase
// "elsewhere" with a fault; nothing is taken by force.
package bridge

// Package server is the door of the core: the unix socket or named pipe, who is at the other end of a connection, and
// the way of a request to the desk and back. A second door, HTTP, is for browsers and opened only when asked for.
//
// Who a peer is comes from the kernel alone: its user must be ours, and its process, start time, ancestors, terminal and
// POSIX session are looked up when it connects and belong to the connection from then on. A request is taken only while
// that very process runs, so a connection that it left to a child is of no use to the child. The server gives no
// authority and decides nothing; the desk does, from the Peer.
//
// What it refuses: peers of other users, peers that cannot be identified, more than MaxConnections, a connection without
// a hello within HelloTimeout, and malformed messages, which are answered once before the connection is closed. A peer
// that does not read what is sent to it is cut off; nothing waits for a slow peer.
//
// Of a browser the kernel says nothing. It is let in by a link that works once, on both loopback addresses and under a
// host name that every run makes anew, and is served as the surface that the server was started as: one that may look,
// or the owner's. Requests that another page made are refused, files never travel, and everything else is as on the
// socket: the same messages, limits and cut-offs.
//
// Known gaps. Cookies are shared by all ports of a host name, here by those that are visited by this run's name
// (docs/limitations.md, "In a browser"). On kernels before 6.5 (no SO_PEERPIDFD), on macOS and on Windows, a process
// that connects and ends, and whose number is given to another process before it is looked up, is mistaken for that
// one; the look-up follows the connection at once, and the new holder of the number is a process of the same user or is
// refused. A process that left its ancestry (double fork) has no agent above it in Chain: its terminal and session are
// still seen, and a terminal answer needs the passphrase for exactly that reason. On macOS program paths and arguments
// are what the process's own memory says, as ps(1) shows them.
package server

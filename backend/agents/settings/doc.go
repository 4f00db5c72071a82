// Package settings changes an agent's settings file on disk, and takes the change back.
//
// It owns the rules that hold for every agent (the content is the adapter's business): the file is read whole and
// bounded; before the first change a copy is kept beside it and never overwritten; the file is read again right before
// an atomic rename and left alone when it changed meanwhile; a link is followed and the file it leads to is edited;
// what was added is written down in a journal of ours, exactly, so that it can be taken out again, byte for byte when
// nothing else changed since.
//
// It refuses a file that is not regular, larger than MaxSize, read-only, or reached through a dangling link.
//
// Known limit: between the second reading and the rename another program can still write the file; what it wrote is
// then lost. The window is one system call wide, and no agent locks its settings.
package settings

//go:build !linux

package sandbox

import (
	"context"

	"countersign/backend/capability"
)

// system is the part of a Broker on systems without a boundary: it says so, and starts nothing by itself.
type system struct{ b *Broker }

func (s *system) init(b *Broker) { s.b = b }

func (s *system) probe(context.Context) Report {
	return Report{
		Enforcement: capability.Unavailable,
		Protections: []Protection{{Name: unofferedProtection, Detail: unofferedDetail, Fix: unofferedFix}},
	}
}

func (s *system) enter(context.Context, Spec) (running, error) {
	return nil, s.probe(context.Background()).unavailable()
}

func (s *system) check(capability.Snapshot) error { return nil }

// Forget removes the private directories of a session that has ended; there are none here.
func (b *Broker) Forget(string) error { return nil }

func (s *system) close() {}

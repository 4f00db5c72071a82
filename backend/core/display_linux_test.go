package core

import (
	"errors"
	"os"
	"testing"

	"countersign/backend/server"
	"countersign/backend/wire"
)

func TestEnvironmentOfAnAncestor(t *testing.T) {
	self, err := server.Self()
	if err != nil {
		t.Fatal(err)
	}
	env, err := environmentOf(self.Chain[0])
	if err != nil || len(env) == 0 {
		t.Fatalf("of this process: %d variables, %v", len(env), err)
	}
	other := self.Chain[0]
	other.Start++
	if _, err := environmentOf(other); !errors.Is(err, errNotOurs) {
		t.Errorf("of a process with another start: %v", err)
	}
	if _, err := environmentOf(wire.Process{PID: 1 << 30}); !errors.Is(err, errNotOurs) {
		t.Errorf("of no process: %v", err)
	}
	file, found := look(os.TempDir())
	if !found || !file.mode.IsDir() {
		t.Errorf("look at the temporary directory: %+v, %v", file, found)
	}
}

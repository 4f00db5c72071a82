package server

import (
	"context"
	"errors"
	"sync"
	"testing"

	"countersign/backend/wire"
)

func TestTooManyRequests(t *testing.T) {
	d, begun, _ := waitingDesk()
	client := start(t, d).dial(t)
	var waiting sync.WaitGroup
	for range MaxInFlight {
		waiting.Add(1)
		go func() {
			defer waiting.Done()
			_ = client.Do(context.Background(), "wait", nil, nil)
		}()
	}
	for range MaxInFlight {
		within(t, begun, "a request")
	}
	if err := client.Do(t.Context(), "fine", nil, nil); codeOf(err) != wire.CodeBusy {
		t.Errorf("error %v, want busy", err)
	}
	if client.Err() != nil {
		t.Errorf("the connection ended: %v", client.Err())
	}
	_ = client.Close()
	waiting.Wait()
}

func TestTooManyConnectionsOfOneProcess(t *testing.T) {
	r := start(t, newFakeDesk())
	var clients []*wire.Client
	for range MaxConnectionsPerPeer {
		clients = append(clients, r.dial(t))
	}
	var e *wire.DialError
	if _, err := wire.Dial(t.Context(), wire.DialOptions{Socket: r.socket}); codeOf(err) != wire.CodeBusy || !errors.As(err, &e) {
		t.Errorf("error %v, want busy", err)
	}
	_ = clients[0].Close()
	within(t, r.desk.left, "gone")
	// The count falls a moment after the desk was told.
	for {
		c, err := wire.Dial(t.Context(), wire.DialOptions{Socket: r.socket})
		if err == nil {
			_ = c.Close()
			break
		}
		if codeOf(err) != wire.CodeBusy {
			t.Fatal(err)
		}
	}
}

package desk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"countersign/backend/capability"
	"countersign/backend/config"
	"countersign/backend/pathid"
	"countersign/backend/policy"
	"countersign/backend/sandbox"
)

// Limits of a gate's answer, in bytes.
const (
	maxGateAnswer = 64 << 10
	maxGateReason = 512
)

// gateVersion is the version of what a gate reads.
const gateVersion = 1

// gateRequest is what a gate reads from standard input (docs/gates.md).
type gateRequest struct {
	Version int         `json:"version"`
	Call    gateCall    `json:"call"`
	Session gateSession `json:"session"`
}

type gateCall struct {
	ID        string          `json:"id"`
	Tool      string          `json:"tool"`       // canonical
	AgentTool string          `json:"agent_tool"` // as the agent sent it
	Args      json.RawMessage `json:"args"`
	Command   string          `json:"command,omitempty"`
	Cwd       string          `json:"cwd"`
	Reads     []string        `json:"reads"`
	Writes    []string        `json:"writes"`
	Opaque    string          `json:"opaque,omitempty"` // why the command could not be analysed in full
	Enforced  bool            `json:"enforced"`         // it would run inside the boundary
}

type gateSession struct {
	ID      string      `json:"id"`
	Agent   string      `json:"agent"`
	Project string      `json:"project"`
	Mode    policy.Mode `json:"mode"`
}

// gateReply is what a gate answers. Decision is deny, ask or pass.
type gateReply struct {
	Decision *string `json:"decision"`
	Reason   string  `json:"reason"`
}

// askGates asks every configured gate that is about the call's tool, all at once.
func (d *Desk) askGates(ctx context.Context, s Session, p prepared) []policy.GateAnswer {
	var asked []config.Gate
	for _, g := range d.options.Config.Gates {
		if len(g.Tools) == 0 || slices.ContainsFunc(g.Tools, func(tool string) bool { return policy.CanonicalTool(tool) == p.facts.Tool() }) {
			asked = append(asked, g)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	request, err := json.Marshal(gateRequest{
		Version: gateVersion,
		Call: gateCall{
			ID: p.call.ID, Tool: p.call.Tool, AgentTool: p.call.AgentTool, Args: p.call.Args, Command: p.facts.Command(), Cwd: p.call.Cwd,
			Reads: append([]string{}, p.facts.Reads()...), Writes: append([]string{}, p.facts.Writes()...), Opaque: p.facts.Opaque(),
			Enforced: p.call.Boundary == policy.BoundaryEnforced,
		},
		Session: gateSession{ID: s.ID, Agent: s.Agent, Project: s.Project, Mode: p.mode},
	})
	answers := make([]policy.GateAnswer, len(asked))
	var all sync.WaitGroup
	for i, g := range asked {
		answers[i] = policy.GateAnswer{Name: g.Name}
		if err != nil {
			answers[i].Err = "the call cannot be written down: " + err.Error()
			continue
		}
		all.Go(func() {
			defer func() { // a gate that fails asks, whatever failed
				if v := recover(); v != nil {
					answers[i] = policy.GateAnswer{Name: g.Name, Err: "it could not be asked"}
					d.log.Error("gate", "gate", g.Name, "panic", v)
				}
			}()
			outcome, reason, err := d.askGate(ctx, s, p, g, request)
			answers[i].Outcome, answers[i].Reason = outcome, reason
			if err != nil {
				answers[i].Err = shortened(err.Error(), maxGateReason)
				d.log.Warn("gate failed, so the call asks", "gate", g.Name, "call", p.call.ID, "error", err)
			}
		})
	}
	all.Wait()
	return answers
}

// askGate runs one gate inside a read-only boundary. Whatever is not a clear answer is an error.
func (d *Desk) askGate(ctx context.Context, s Session, p prepared, g config.Gate, request []byte) (policy.Outcome, string, error) {
	effective, cwd, err := d.gateBoundary(s, g)
	if err != nil {
		return "", "", err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, g.Timeout(), fmt.Errorf("it took longer than %s", g.Timeout()))
	defer cancel()
	stdin, stdinEnd, err := os.Pipe()
	if err != nil {
		return "", "", err
	}
	defer func() { _ = stdin.Close() }()
	stdoutEnd, stdout, err := os.Pipe()
	if err != nil {
		_ = stdinEnd.Close()
		return "", "", err
	}
	defer func() { _ = stdoutEnd.Close() }()
	process, err := d.broker.Start(ctx, sandbox.Spec{
		Call: p.call.ID, Session: s.ID, Principal: "desk", Tool: "gate", Request: newID(), Class: capability.ClassGate, Bounded: true,
		Argv: g.Command, Effective: effective, CwdIdentity: cwd.Identity, Environment: sandbox.Environment(sandbox.EnvOptions{}),
		Stdin: stdin, Stdout: stdout,
	})
	_ = stdout.Close() // the gate holds the other end, or nobody does
	if err != nil {
		_ = stdinEnd.Close()
		return "", "", err
	}
	go func() { // one that does not read everything may still have answered
		_, _ = stdinEnd.Write(request)
		_ = stdinEnd.Close()
	}()
	answer, readErr := io.ReadAll(io.LimitReader(stdoutEnd, maxGateAnswer+1))
	if len(answer) > maxGateAnswer {
		cancel()
	}
	end := process.Wait()
	switch {
	case context.Cause(ctx) != nil && len(answer) <= maxGateAnswer:
		return "", "", context.Cause(ctx)
	case len(answer) > maxGateAnswer:
		return "", "", fmt.Errorf("it answered with more than %d bytes", maxGateAnswer)
	case readErr != nil:
		return "", "", readErr
	case end.Exit == nil || *end.Exit != 0:
		return "", "", errors.New("it ended with " + endWords(end))
	}
	return parseGate(answer)
}

// gateBoundary is what a gate runs in: the project and its own directory to read, nothing to write, no network.
func (d *Desk) gateBoundary(s Session, g config.Gate) (capability.Effective, pathid.Root, error) {
	cwd, err := pathid.OpenRoot(d.fsys, s.Project)
	if err != nil {
		return capability.Effective{}, pathid.Root{}, err
	}
	program, err := pathid.Resolve(d.platform, d.fsys, g.Command[0])
	if err != nil {
		return capability.Effective{}, pathid.Root{}, err
	}
	request := d.broker.Request(capability.ReadOnly, s.Roots, cwd.Path)
	request.Class, request.Shell = capability.ClassGate, false
	if dir := filepath.Dir(program.Path); !inAny(d.platform, request.ReadRoots, dir) {
		request.ReadRoots = append(request.ReadRoots, dir)
	}
	request.Limits.WallClock = g.Timeout()
	effective, err := capability.Intersect(request, capability.ReadOnlyCeiling())
	return effective, cwd, err
}

// parseGate reads a gate's answer: exactly one JSON object with a known decision.
func parseGate(answer []byte) (policy.Outcome, string, error) {
	decoder := json.NewDecoder(bytes.NewReader(answer))
	decoder.DisallowUnknownFields()
	var reply gateReply
	if err := decoder.Decode(&reply); err != nil {
		return "", "", fmt.Errorf("its answer is not understood: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return "", "", errors.New("its answer goes on after the JSON object")
	}
	if reply.Decision == nil {
		return "", "", errors.New("its answer names no decision")
	}
	reason := shortened(strings.ToValidUTF8(reply.Reason, ""), maxGateReason)
	switch *reply.Decision {
	case "deny":
		return policy.Deny, reason, nil
	case "ask":
		return policy.Ask, reason, nil
	case "pass":
		return "", reason, nil
	}
	return "", "", fmt.Errorf("%q is no decision; it is deny, ask or pass", shortened(*reply.Decision, maxGateReason))
}

func endWords(end sandbox.End) string {
	if end.Exit != nil {
		return "exit status " + itoa(*end.Exit)
	}
	if end.Signal != "" {
		return end.Signal
	}
	return "no exit status"
}

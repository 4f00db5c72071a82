package desk

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"countersign/backend/approval"
	"countersign/backend/capability"
	"countersign/backend/pathid"
	"countersign/backend/policy"
	"countersign/backend/wire"
)

// Buckets of the store that the desk owns.
const (
	bucketSessions = "sessions" // session id -> Session
	bucketDesk     = "desk"     // keyPause -> wire.DeskPause, keyPreferences -> wire.Preferences
)

// Limits of sessions.
const (
	maxLiveSessions  = 256
	maxProcessClaims = 64 // sessions that one agent process may claim at a time
	maxClaimBytes    = 256
	maxAbove         = 4  // processes above the root process that are named
	maxAboveName     = 64 // bytes of such a name
	livenessInterval = 3 * time.Second
	// sessionRetention is how long an ended session stays listed.
	sessionRetention = 30 * 24 * time.Hour
)

// Session is one run of an agent: its root process, seen by the kernel, and the id it claims. It ends with the process.
type Session struct {
	ID       string       `json:"id"` // UUIDv7
	Agent    string       `json:"agent"`
	Claim    string       `json:"claim"` // the session id the agent gives itself
	Root     wire.Process `json:"root"`
	Above    []string     `json:"above,omitempty"` // names of the processes above the root process when it was opened, nearest first
	Verified bool         `json:"verified"`        // the root process is the agent's own program, as far as its path tells
	// Own says that it is the desk's own, for trying the way of an approval: no process belongs to it.
	Own bool `json:"own,omitempty"`
	// Roots are resolved directories: the repository root (or directory) the root process started in, plus what the
	// owner added. RootsClaimed says that they come from the agent's own words.
	Roots        []string                 `json:"roots"`
	RootsClaimed bool                     `json:"roots_claimed,omitempty"`
	Project      string                   `json:"project"`
	Identity     pathid.Identity          `json:"identity"`       // of the project directory
	Mode         policy.Mode              `json:"mode,omitempty"` // that the owner chose for this session; "" see Desk.chosenMode
	ModeVersion  int                      `json:"mode_version"`
	ModeOwner    string                   `json:"mode_owner,omitempty"` // principal that set it
	Policy       capability.SandboxPolicy `json:"sandbox_policy"`
	Interactive  bool                     `json:"interactive"`
	Attended     bool                     `json:"attended"`
	// AutoBlocks counts the classifier's blocks in a row; maxAutoBlocks of them pause auto mode until the owner sets a mode.
	AutoBlocks int `json:"auto_blocks,omitempty"`
	// Surfaces are what its browser tools act on, as registered.
	Surfaces []Surface `json:"surfaces,omitempty"`
	// Paused holds why everything from this session is refused until the owner resumes it: wire.PausedByOwner, or a
	// sentence about what the agent did.
	Paused    string    `json:"paused,omitempty"`
	StartedAt time.Time `json:"started_at"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
}

// goesOn says why nothing of this session is to go on, when it is so.
func (s Session) goesOn() error {
	switch {
	case s.Paused != "":
		return &wire.Error{Code: "session_paused", Args: map[string]string{"session": s.ID, "why": s.Paused}}
	case !s.EndedAt.IsZero():
		return &wire.Error{Code: "session_ended", Args: map[string]string{"session": s.ID}}
	}
	return nil
}

// setPaused pauses or resumes everything of an agent's process: another session id of the same process is the same agent.
func (d *Desk) setPaused(s Session, why string) error {
	for _, other := range d.sessionsNewestFirst() {
		if other.Root.PID != s.Root.PID || other.Root.Start != s.Root.Start {
			continue
		}
		if _, err := d.changeSession(other.ID, func(o *Session) error { o.Paused = why; return nil }); err != nil {
			return err
		}
	}
	return nil
}

// sessionFor finds or opens the session of a caller that speaks for an agent. The root process is found in the
// caller's own chain of ancestors; the claim only tells sessions of one process apart.
func (d *Desk) sessionFor(c Caller, agent, claim, cwd string, interactive bool) (Session, error) {
	if agent == "" || len(agent) > maxClaimBytes || len(claim) > maxClaimBytes {
		return Session{}, &wire.Error{Code: "bad_arguments", Args: map[string]string{"problem": "agent and session_claim must be given, with at most 256 bytes each"}}
	}
	if agent == TrialAgent {
		return Session{}, &wire.Error{Code: "agent_reserved", Args: map[string]string{"agent": agent}}
	}
	if len(c.Peer.Chain) == 0 {
		return Session{}, &wire.Error{Code: "identity_missing"}
	}
	index, verified := d.options.Agents.Match(agent, c.Peer.Chain)
	if index < 0 || index >= len(c.Peer.Chain) {
		return Session{}, &wire.Error{Code: "identity_missing", Args: map[string]string{"agent": agent}}
	}
	root := c.Peer.Chain[index]

	d.mu.Lock()
	live, claims := 0, 0
	paused := ""
	for _, s := range d.sessions {
		if s.Own {
			continue
		}
		if s.Paused != "" && s.Root.PID == root.PID && s.Root.Start == root.Start {
			paused = s.Paused
		}
		if !s.EndedAt.IsZero() {
			continue
		}
		live++
		if s.Root.PID == root.PID && s.Root.Start == root.Start {
			claims++
		}
		if s.Agent == agent && s.Claim == claim && s.Root.PID == root.PID && s.Root.Start == root.Start {
			found := *s
			d.mu.Unlock()
			return found, nil
		}
	}
	d.mu.Unlock()
	if live >= maxLiveSessions || claims >= maxProcessClaims {
		return Session{}, &wire.Error{Code: "too_many_sessions", Args: map[string]string{"limit": strconv.Itoa(maxLiveSessions)}}
	}

	s := Session{
		ID: newID(), Agent: agent, Claim: claim, Root: root, Above: namesAbove(c.Peer.Chain[index+1:]), Verified: verified,
		Policy:      d.options.Config.SandboxPolicy(),
		Interactive: interactive, Attended: interactive && d.options.Config.Approval.Attended, Paused: paused, StartedAt: d.clock.Now(),
	}
	start, err := startDirectory(root)
	if err != nil {
		start, s.RootsClaimed = cwd, true
	}
	if err := s.setRoots(d.platform, d.fsys, start); err != nil {
		return Session{}, &wire.Error{Code: "bad_directory", Args: map[string]string{"path": start, "problem": err.Error()}}
	}
	return d.addSession(s)
}

// namesAbove names the processes of a chain for people, as far as a card has room. The names are claims of the processes
// themselves where their program cannot be read.
func namesAbove(chain []wire.Process) []string {
	var names []string
	for _, p := range chain[:min(len(chain), maxAbove)] {
		name := p.Name
		if p.Exe != "" {
			name = filepath.Base(strings.TrimSuffix(p.Exe, " (deleted)"))
		}
		if len(name) > maxAboveName {
			name = name[:maxAboveName]
		}
		if name = strings.ToValidUTF8(name, ""); name == "" {
			name = "?"
		}
		names = append(names, name)
	}
	return names
}

// setRoots makes the repository root that contains dir, or dir itself, the session's project and only root.
func (s *Session) setRoots(p pathid.Platform, fsys pathid.FS, dir string) error {
	if !filepath.IsAbs(dir) {
		return errors.New("the working directory is not an absolute path")
	}
	resolved, err := pathid.Resolve(p, fsys, dir)
	if err != nil {
		return err
	}
	project := resolved.Path
	if top, ok := pathid.RepositoryRoot(fsys, resolved.Path); ok {
		project = top
	}
	root, err := pathid.OpenRoot(fsys, project)
	if err != nil {
		return err
	}
	s.Project, s.Identity, s.Roots = root.Path, root.Identity, []string{root.Path}
	return nil
}

// addSession stores a new session unless another caller stored the same one meanwhile.
func (d *Desk) addSession(s Session) (Session, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, other := range d.sessions {
		if other.EndedAt.IsZero() && other.Agent == s.Agent && other.Claim == s.Claim && other.Root.PID == s.Root.PID && other.Root.Start == s.Root.Start {
			return *other, nil
		}
	}
	if err := d.store.Update(func(tx approval.Tx) error { return tx.Put(bucketSessions, s.ID, s) }); err != nil {
		return Session{}, err
	}
	stored := s
	d.sessions[s.ID] = &stored
	d.frame(wire.FrameSessionUpdated, d.wireSession(s))
	d.wakeLoop() // its process is to be watched from now on
	return s, nil
}

// changeSession applies change to a session and stores it; when the store fails nothing changed.
func (d *Desk) changeSession(id string, change func(*Session) error) (Session, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	current, ok := d.sessions[id]
	if !ok {
		return Session{}, &wire.Error{Code: "unknown_session", Args: map[string]string{"session": id}}
	}
	next := *current
	if err := change(&next); err != nil {
		return Session{}, err
	}
	if err := d.store.Update(func(tx approval.Tx) error { return tx.Put(bucketSessions, id, next) }); err != nil {
		return Session{}, err
	}
	*current = next
	d.frame(wire.FrameSessionUpdated, d.wireSession(next))
	return next, nil
}

func (d *Desk) session(id string) (Session, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, ok := d.sessions[id]
	if !ok {
		return Session{}, false
	}
	return *s, true
}

// loadSessions reads the sessions of earlier runs. Those whose process is gone end with the next liveness check.
func (d *Desk) loadSessions() error {
	forget := d.clock.Now().Add(-sessionRetention)
	return d.store.Update(func(tx approval.Tx) error {
		var old []string
		err := tx.Each(bucketSessions, "", func(key string, raw json.RawMessage) error {
			var s Session
			if err := json.Unmarshal(raw, &s); err != nil {
				return err
			}
			if !s.EndedAt.IsZero() && s.EndedAt.Before(forget) {
				old = append(old, key)
				return nil
			}
			d.sessions[s.ID] = &s
			return nil
		})
		if err != nil {
			return err
		}
		for _, key := range old {
			if err := tx.Delete(bucketSessions, key); err != nil {
				return err
			}
		}
		return nil
	})
}

// endGoneSessions ends every session whose root process no longer runs; its waits become origin_gone.
func (d *Desk) endGoneSessions() {
	var gone []string
	d.mu.Lock()
	for id, s := range d.sessions {
		if s.EndedAt.IsZero() && !s.Own && !processAlive(s.Root) {
			gone = append(gone, id)
		}
	}
	d.mu.Unlock()
	for _, id := range gone {
		if err := d.endSession(id); err != nil {
			d.log.Error("end session", "session", id, "error", err)
		}
	}
}

// endSession closes a session: its waits end as origin_gone and its rules go away.
func (d *Desk) endSession(id string) error {
	if _, err := d.changeSession(id, func(s *Session) error {
		if s.EndedAt.IsZero() {
			s.EndedAt = d.clock.Now()
		}
		return nil
	}); err != nil {
		return err
	}
	d.mu.Lock()
	delete(d.turns, id)
	d.mu.Unlock()
	events, err := d.calls.SessionGone(id)
	d.publish(events)
	if err != nil {
		return err
	}
	if err := d.broker.Forget(id); err != nil {
		d.log.Warn("remove private directories", "session", id, "error", err)
	}
	return d.store.Update(func(tx approval.Tx) error { return d.book.EndSession(tx, id) })
}

// Questions for tests.
import type { CapabilitySnapshot, Card, Question } from '../wire/types.gen'

export function snapshot(more: Partial<CapabilitySnapshot> = {}): CapabilitySnapshot {
  return {
    class: 'shell', policy: 'workspace-write', shell: true, cwd: '/p', read_roots: [], write_roots: [], metadata_roots: [], denied_roots: [],
    network: 'off', targets: [], environment: [], limits: {}, ...more,
  }
}

export function card(more: Partial<Card> = {}): Card {
  return {
    agent: 'claude', verified: true, program: '/usr/bin/claude', pid: 1, chain: [], runs: [], project: '/p', tool: 'bash', agent_tool: 'Bash', command: 'ls',
    args: {}, cwd: '/p', here: true, boundary: 'enforced', effective: snapshot(), verdict: { outcome: 'ask', reason: 'approval_required', step: 13, trace: [] },
    risk: { level: 'low', words: [] }, ...more,
  }
}

export function question(more: Partial<Question> = {}): Question {
  return {
    id: 'q1', version: 1, kind: 'approval', state: 'open', session: 's1', execution: 'e1', call: 'c1', agent: 'claude', tool: 'bash',
    prompt: 'Claude Code wants to run a command in p', detail: card(), risk: 'low', reason: 'approval_required',
    offers: [{ number: 1, scope: 'once' }, { number: 2, scope: 'session', rules: ['Bash(ls)'], boundary: 'enforced' }],
    created_at: '2026-03-01T12:00:00Z', ...more,
  }
}

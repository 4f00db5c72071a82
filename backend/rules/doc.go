// Package rules is where the owner's rules are kept, and who else may add to them.
//
// A Book gathers every rule that applies to one session from its sources, which are concatenated and never overridden:
//
//	managed     an administrator's file at a fixed place of the system; it may also lock what owners may choose
//	global      config.toml, and what the desk keeps for every project
//	project     what the desk keeps for one project, under the project's own identity, never in the repository
//	session     what was saved for one session; it ends with it
//	repository  .countersign/rules.toml in the project: the executed party's own text, which may only tighten until the
//	            owner trusts exactly this content in exactly this place
//
// A source that cannot be read is never skipped: it is reported as unreadable, and policy then asks for everything. What
// stands in a file and does not count is reported as ignored, so that a screen can show it.
//
// Kept rules are JSON values in two buckets of the store, which only this package writes:
//
//	rules        "agent/<agent>/<digest>"     taken over from an agent's own settings; restricts only
//	             "global/<id>"                policy.SourcedRule
//	             "project/<project>/<id>"     <project> is the digest of the project's path
//	             "session/<session>/<id>"
//	rules_state  "version"                    counts every change of what is kept
//	             "project/<project>"          Project
//	             "use/<digest>"               use of one rule
//
// Known limits: a rule's expiry is by wall clock. The managed file is read at every decision, so a change of it counts at
// once, also for sessions that run.
package rules

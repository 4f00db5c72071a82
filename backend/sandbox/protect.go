package sandbox

// protectedPath is a path, relative to a write root, that no boxed command may change, because programs outside the
// boundary execute or obey what stands there.
type protectedPath struct {
	path string
	dir  bool // what to stand in for it while it is missing
}

// protectedPaths are read-only in every write root, whether they exist or not. A .git that is missing is protected as a
// whole, because whoever may create it may also create its hooks.
var protectedPaths = []protectedPath{
	{".git/hooks", true},
	{".git/config", false},
	{".git/config.worktree", false}, // .git/commondir cannot be stood in for: inspect_linux.go
	{".agents", true},
	{".claude", true},
	{".codex", true},
	{".countersign", true},
	{".cursor", true},
	{".gemini", true},
	{".mcp.json", false},
	{".opencode", true},
	{".qwen", true},
	{".vscode", true},
}

// guard is one protected path as the survey found it.
type guard struct {
	Path      string   // the path that is made read-only: the first missing component when Missing
	Dir       bool     // a directory, or a directory to stand in for what is missing
	Missing   bool     // nothing stands there; a stand-in is created for the time of the run
	Ancestors []string // the directories between the write root and Path, both excluded: bound onto themselves, so that none can be renamed away
	Passing   bool     // found by the walk: it may go at any time, and is then left out
	Link      string   // when Path is a symbolic link: its text. Target is what is then made read-only
	Target    string   // empty when the link leads nowhere or to what is not mounted
}

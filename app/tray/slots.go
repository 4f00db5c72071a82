package tray

// Slot is a fixed place in the menu. The tray's library can hide a line and never remove one, and can neither hide a
// separator nor take a submenu away: so all places exist from the start, in this order.
type Slot string

// The slots. A menu shows at most nine lines of the first level.
const (
	SlotHead         Slot = "head"
	SlotFirst        Slot = "first"
	SlotSecond       Slot = "second"
	SlotThird        Slot = "third"
	SlotOpen         Slot = "open"
	SlotPause        Slot = "pause"
	SlotPauseShort   Slot = "pause_short"
	SlotPauseLong    Slot = "pause_long"
	SlotPauseForever Slot = "pause_forever"
	SlotResume       Slot = "resume"
	SlotProjects     Slot = "projects"
	SlotSettings     Slot = "settings"
	SlotQuit         Slot = "quit"
)

// Place is one slot as the helper lays it out.
type Place struct {
	Slot      Slot
	Above     Slot // the slot whose submenu it is in; "" for the first level
	Separated bool // a separator stands before it
}

// Layout is the menu from top to bottom.
var Layout = []Place{
	{Slot: SlotHead},
	{Slot: SlotFirst},
	{Slot: SlotSecond},
	{Slot: SlotThird},
	{Slot: SlotOpen, Separated: true},
	{Slot: SlotPause},
	{Slot: SlotPauseShort, Above: SlotPause},
	{Slot: SlotPauseLong, Above: SlotPause},
	{Slot: SlotPauseForever, Above: SlotPause},
	{Slot: SlotResume},
	{Slot: SlotProjects},
	{Slot: SlotSettings},
	{Slot: SlotQuit, Separated: true},
}

package wire

// The actions. Each is registered once in desk with its input and output type, the capability it needs and its
// idempotency; the types are in this package so that every client speaks the same words.
const (
	ActionAdmitCall      = "admit_call"      // AdmitCall -> CallStatus
	ActionAwaitCall      = "await_call"      // AwaitCall -> CallStatus
	ActionPerformCall    = "perform_call"    // PerformCall -> PerformResult
	ActionRedeemCall     = "redeem_call"     // RedeemCall, with stdin, stdout and stderr -> RunResult
	ActionSignalCall     = "signal_call"     // SignalCall -> Empty
	ActionResizeCall     = "resize_call"     // ResizeCall -> Empty
	ActionCallDirectory  = "call_directory"  // CallRef -> CallDirectory
	ActionCancelCall     = "cancel_call"     // CancelCall -> CallStatus
	ActionPermissionCall = "permission_call" // PermissionCall -> PermissionResult
	ActionReportCall     = "report_call"     // ReportCall -> ReportResult
	ActionSessionEvent   = "session_event"   // SessionEvent -> SessionEventResult

	ActionQuestionReply       = "question_reply"          // QuestionReply -> AnswerResult
	ActionQuestionReject      = "question_reject"         // QuestionReject -> AnswerResult
	ActionListQuestions       = "list_questions"          // ListQuestions -> Questions
	ActionGetQuestion         = "get_question"            // GetQuestion -> Question
	ActionListSessions        = "list_sessions"           // ListSessions -> Sessions
	ActionListCalls           = "list_calls"              // ListCalls -> Calls
	ActionListReceipts        = "list_receipts"           // ListReceipts -> Receipts
	ActionGetReceipt          = "get_receipt"             // GetReceipt -> Receipt
	ActionVerifyReceipts      = "verify_receipts"         // Empty -> Verification
	ActionListPermissionRules = "list_permission_rules"   // ListPermissionRules -> PermissionRules
	ActionSetPermissionMode   = "set_permission_mode"     // SetPermissionMode -> PermissionState
	ActionGetPermissionState  = "get_permission_state"    // GetPermissionState -> PermissionState
	ActionImportRules         = "import_rules"            // ImportRules -> Empty
	ActionRemoveRule          = "remove_permission_rule"  // RemovePermissionRule -> Empty
	ActionAddRule             = "add_permission_rule"     // NewPermissionRule -> SavedRule
	ActionPreviewRule         = "preview_permission_rule" // NewPermissionRule -> RulePreview
	ActionGetProject          = "get_project"             // GetProject -> Project
	ActionSetProject          = "set_project"             // SetProject -> Project
	ActionTrustRepository     = "trust_repository"        // TrustRepository -> Project
	ActionSetAttended         = "set_attended"            // SetAttended -> Session
	ActionSetSurface          = "set_surface"             // SetSurface -> Session
	ActionAddRoot             = "add_root"                // ChangeRoot -> Session
	ActionRemoveRoot          = "remove_root"             // ChangeRoot -> Session
	ActionResumeSession       = "resume_session"          // ResumeSession -> Empty
	ActionUnlockTerminal      = "unlock_terminal"         // UnlockTerminal -> Unlocked
	ActionSubscribe           = "subscribe"               // Subscribe -> Subscribed, then frames
	ActionStatus              = "status"                  // Empty -> Status
	ActionPing                = "ping"                    // Empty -> Pong
	ActionShutdown            = "shutdown"                // Empty -> Empty
	ActionQuestionShown       = "question_shown"          // QuestionShown -> ShownResult
	ActionExtendQuestion      = "extend_question"         // ExtendQuestion -> Question
	ActionGetChanges          = "get_changes"             // GetChanges -> Changes
	ActionPauseSession        = "pause_session"           // PauseSession -> Empty
	ActionPauseDesk           = "pause_desk"              // PauseDesk -> DeskPause
	ActionTestRequest         = "test_request"            // TestRequest -> CallRef
	ActionOpenLink            = "open_link"               // OpenLink -> LinkOpened
	ActionGetPreferences      = "get_preferences"         // Empty -> Preferences
	ActionSetPreferences      = "set_preferences"         // Preferences -> Preferences
)

// The frames.
const (
	FrameQuestionAsked   = "question.asked"   // Question
	FrameQuestionClosed  = "question.closed"  // Question
	FrameCallUpdated     = "call.updated"     // Call
	FrameSessionUpdated  = "session.updated"  // Session
	FrameReceiptIssued   = "receipt.issued"   // ReceiptIssued
	FramePermissionState = "permission.state" // PermissionState
	FramePermissionRules = "permission_rules" // RulesChanged
	FrameQuestionUpdated = "question.updated" // Question: shown or extended; what it asks is unchanged
	FrameDeskPaused      = "desk.paused"      // DeskPause
	FrameLinkOpened      = "link.opened"      // Link
	FrameSecurityEvent   = "security.event"   // policy.Event: what was decided, never an argument
	FramePreferences     = "preferences"      // Preferences
)

// Empty is the input or output of an action that needs none.
type Empty struct{}

package desk

import (
	"countersign/backend/policy"
	"countersign/backend/wire"
)

// registerActions registers every action, once. What is open to agents is exactly what a hook, a redeemed call and a
// client of the local API need; everything else is refused to any process below an agent.
func (d *Desk) registerActions() {
	const agents, owners = true, false
	add := func(name string, c policy.Capability, open, idempotent bool) Action {
		return Action{Name: name, Capability: c, Agents: open, Idempotent: idempotent}
	}
	register(d, add(wire.ActionPing, "", agents, true), d.ping)
	register(d, add(wire.ActionStatus, "", agents, true), d.statusOf)

	register(d, add(wire.ActionAdmitCall, policy.CapApprovalRequest, agents, true), d.admit)
	register(d, add(wire.ActionAwaitCall, policy.CapApprovalRequest, agents, true), d.await)
	register(d, add(wire.ActionPermissionCall, policy.CapApprovalRequest, agents, true), d.permission)
	register(d, add(wire.ActionRedeemCall, policy.CapApprovalRequest, agents, false), d.redeem)
	register(d, add(wire.ActionPerformCall, policy.CapApprovalRequest, agents, false), d.perform)
	register(d, add(wire.ActionSignalCall, policy.CapApprovalRequest, agents, false), d.signal)
	register(d, add(wire.ActionResizeCall, policy.CapApprovalRequest, agents, true), d.resize)
	register(d, add(wire.ActionCallDirectory, policy.CapApprovalRequest, agents, true), d.directory)
	register(d, add(wire.ActionCancelCall, policy.CapApprovalRequest, agents, true), d.cancelCall)
	register(d, add(wire.ActionReportCall, policy.CapApprovalRequest, agents, true), d.report)
	register(d, add(wire.ActionSessionEvent, policy.CapApprovalRequest, agents, true), d.sessionEvent)

	register(d, add(wire.ActionOpenLink, "", owners, true), d.openLink)
	register(d, add(wire.ActionUnlockTerminal, "", owners, false), d.unlockTerminal)
	register(d, add(wire.ActionQuestionReply, policy.CapApprovalAnswer, owners, true), d.reply)
	register(d, add(wire.ActionQuestionReject, policy.CapApprovalAnswer, owners, true), d.reject)
	register(d, add(wire.ActionQuestionShown, policy.CapApprovalAnswer, owners, true), d.questionShown)
	register(d, add(wire.ActionExtendQuestion, policy.CapApprovalAnswer, owners, true), d.extendQuestion)
	register(d, add(wire.ActionListQuestions, policy.CapSessionRead, owners, true), d.listQuestions)
	register(d, add(wire.ActionGetQuestion, policy.CapSessionRead, owners, true), d.getQuestion)
	register(d, add(wire.ActionListSessions, policy.CapSessionRead, owners, true), d.listSessions)
	register(d, add(wire.ActionListCalls, policy.CapSessionRead, owners, true), d.listCalls)
	register(d, add(wire.ActionGetPermissionState, policy.CapSessionRead, owners, true), d.modeState)
	register(d, add(wire.ActionSetPermissionMode, policy.CapPermissionSet, owners, true), d.setMode)
	register(d, add(wire.ActionResumeSession, policy.CapPermissionSet, owners, true), d.resume)
	register(d, add(wire.ActionGetChanges, policy.CapSessionRead, owners, true), d.changes)
	register(d, add(wire.ActionTestRequest, policy.CapApprovalAnswer, owners, true), d.testRequest)
	register(d, add(wire.ActionPauseSession, policy.CapPermissionSet, owners, true), d.pauseSession)
	register(d, add(wire.ActionPauseDesk, policy.CapPermissionSet, owners, true), d.pauseDesk)
	register(d, add(wire.ActionGetPreferences, policy.CapSessionRead, owners, true), d.getPreferences)
	register(d, add(wire.ActionSetPreferences, policy.CapPermissionSet, owners, true), d.setPreferences)
	register(d, add(wire.ActionListPermissionRules, policy.CapSessionRead, owners, true), d.listRules)
	register(d, add(wire.ActionImportRules, policy.CapSessionCreate, owners, true), d.importRules)
	register(d, add(wire.ActionRemoveRule, policy.CapRulesEdit, owners, true), d.removeRule)
	register(d, add(wire.ActionAddRule, policy.CapRulesEdit, owners, true), d.addRule)
	register(d, add(wire.ActionPreviewRule, policy.CapRulesEdit, owners, true), d.previewRule)
	register(d, add(wire.ActionGetProject, policy.CapSessionRead, owners, true), d.getProject)
	register(d, add(wire.ActionSetProject, policy.CapPermissionSet, owners, true), d.setProject)
	register(d, add(wire.ActionTrustRepository, policy.CapRulesEdit, owners, true), d.trustRepository)
	register(d, add(wire.ActionSetAttended, policy.CapPermissionSet, owners, true), d.setAttended)
	register(d, add(wire.ActionSetSurface, policy.CapPermissionSet, owners, true), d.setSurface)
	register(d, add(wire.ActionAddRoot, policy.CapPermissionSet, owners, true), d.addRoot)
	register(d, add(wire.ActionRemoveRoot, policy.CapPermissionSet, owners, true), d.removeRoot)
	register(d, add(wire.ActionListReceipts, policy.CapReceiptsRead, owners, true), d.listReceipts)
	register(d, add(wire.ActionGetReceipt, policy.CapReceiptsRead, owners, true), d.getReceipt)
	register(d, add(wire.ActionVerifyReceipts, policy.CapReceiptsRead, owners, true), d.verifyReceipts)
}

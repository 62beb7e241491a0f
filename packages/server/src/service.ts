import type { Store } from '@tool-hub/core'
import type { Health, PrincipalEntry } from '@tool-hub/core/protocol'
import type { Hub } from '@tool-hub/runtime/hub'
import type { ApprovalService } from './approvals/approval-service.ts'
import type { TokenRegister } from './auth/token-register.ts'
import type { ProcessGroup } from './call-router.ts'
import type { CallHistory } from './services/call-history.ts'
import type { EventHub } from './services/event-hub.ts'
import type { PolicyManager } from './services/policy-manager.ts'

/** The service behind every transport: HTTP, WebSocket and MCP. */
export interface Service {
  readonly hub: Hub
  readonly store: Store
  readonly version: string
  readonly startedAt: number
  readonly history: CallHistory
  readonly events: EventHub
  readonly approvals: ApprovalService
  readonly policy: PolicyManager
  readonly tokens: TokenRegister
  readonly group: ProcessGroup
  /** Everybody who uses the hub: the owner, every token, and every principal with a run on record. */
  principals(): Promise<readonly PrincipalEntry[]>
  health(): Promise<Health>
  /** The metrics in the format of Prometheus: calls, pending approvals, decisions, budgets and other processes. */
  metrics(): Promise<string>
  /** Rejects if nothing can be recorded; calls with side effects are refused then. */
  checkRecords(): Promise<void>
}

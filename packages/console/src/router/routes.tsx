import {
  Activity,
  Bot,
  CalendarClock,
  Hand,
  HeartPulse,
  History,
  Inbox,
  KeyRound,
  type LucideIcon,
  NotebookPen,
  Presentation,
  ScrollText,
  Server,
  ShieldCheck,
  Wrench,
} from 'lucide-react'
import { type ComponentType, lazy } from 'react'
import type { Scope } from '../api/types.ts'

/** A section of the console, in the order of the navigation; `key` follows `g`. */
export interface Section {
  readonly path: string
  readonly title: string
  readonly key: string
  readonly icon: LucideIcon
  /** Starts a group of sections, with a gap before it. */
  readonly startsGroup?: boolean
  /** The section is only for users with this scope. */
  readonly scope?: Scope
}

/** The sections of the navigation, in order. */
export const SECTIONS: readonly Section[] = [
  { path: '/live', title: 'Live', key: 'l', icon: Activity },
  { path: '/approvals', title: 'Approvals', key: 'a', icon: Hand },
  { path: '/inbox', title: 'Inbox', key: 'i', icon: Inbox },
  { path: '/runs', title: 'Runs', key: 'r', icon: History, startsGroup: true },
  { path: '/agents', title: 'Agents', key: 'n', icon: Bot },
  { path: '/schedules', title: 'Schedules', key: 's', icon: CalendarClock },
  { path: '/memory', title: 'Memory', key: 'm', icon: NotebookPen },
  { path: '/canvas', title: 'Canvas', key: 'c', icon: Presentation },
  { path: '/tools', title: 'Tools', key: 't', icon: Wrench, startsGroup: true },
  { path: '/policy', title: 'Policy', key: 'p', icon: ShieldCheck },
  { path: '/tokens', title: 'Tokens', key: 'k', icon: KeyRound, scope: 'admin' },
  { path: '/audit', title: 'Audit', key: 'u', icon: ScrollText },
  { path: '/machines', title: 'Machines', key: 'o', icon: Server },
  { path: '/health', title: 'Health', key: 'h', icon: HeartPulse },
]

/** The props of a page: the parameters in its path. */
export interface PageProps {
  readonly params: Readonly<Record<string, string>>
}

const LivePage = lazy(() => import('../pages/live/live-page.tsx'))
const ApprovalsPage = lazy(() => import('../pages/approvals/approvals-page.tsx'))
const InboxPage = lazy(() => import('../pages/inbox/inbox-page.tsx'))
const RunsPage = lazy(() => import('../pages/runs/runs-page.tsx'))
const RunPage = lazy(() => import('../pages/runs/run-page.tsx'))
const AgentsPage = lazy(() => import('../pages/agents/agents-page.tsx'))
const SchedulesPage = lazy(() => import('../pages/schedules/schedules-page.tsx'))
const MemoryPage = lazy(() => import('../pages/memory/memory-page.tsx'))
const CanvasPage = lazy(() => import('../pages/canvas/canvas-page.tsx'))
const ToolsPage = lazy(() => import('../pages/tools/tools-page.tsx'))
const PolicyPage = lazy(() => import('../pages/policy/policy-page.tsx'))
const TokensPage = lazy(() => import('../pages/tokens/tokens-page.tsx'))
const AuditPage = lazy(() => import('../pages/audit/audit-page.tsx'))
const MachinesPage = lazy(() => import('../pages/machines/machines-page.tsx'))
const HealthPage = lazy(() => import('../pages/health/health-page.tsx'))

/** The page of each path; the first match is shown. A page is loaded when it is first opened. */
export const ROUTES: readonly (readonly [pattern: string, page: ComponentType<PageProps>])[] = [
  ['/', LivePage],
  ['/live/:call?', LivePage],
  ['/approvals/:id?', ApprovalsPage],
  ['/inbox/:id?', InboxPage],
  ['/runs', RunsPage],
  ['/runs/:run/:call?', RunPage],
  ['/agents/:id?', AgentsPage],
  ['/schedules/:id?', SchedulesPage],
  ['/memory/:id?', MemoryPage],
  ['/canvas/:id?', CanvasPage],
  ['/tools/:tool?', ToolsPage],
  ['/policy', PolicyPage],
  ['/tokens', TokensPage],
  ['/audit', AuditPage],
  ['/machines', MachinesPage],
  ['/health', HealthPage],
]

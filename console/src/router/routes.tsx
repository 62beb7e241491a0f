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
  /** Others of another kind come before it. */
  readonly startsGroup?: boolean
  /** Only for those who have it. */
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
  { path: '/health', title: 'Health', key: 'h', icon: HeartPulse },
]

/** What a page gets: the names in its path. */
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
const HealthPage = lazy(() => import('../pages/health/health-page.tsx'))

/** Which page a path shows, first match; each is loaded when it is first opened. */
export const ROUTES: readonly (readonly [pattern: string, page: ComponentType<PageProps>])[] = [
  ['', LivePage],
  ['/live', LivePage],
  ['/live/:call', LivePage],
  ['/approvals', ApprovalsPage],
  ['/approvals/:id', ApprovalsPage],
  ['/inbox', InboxPage],
  ['/inbox/:id', InboxPage],
  ['/runs', RunsPage],
  ['/runs/:run', RunPage],
  ['/runs/:run/:call', RunPage],
  ['/agents', AgentsPage],
  ['/agents/:id', AgentsPage],
  ['/schedules', SchedulesPage],
  ['/schedules/:id', SchedulesPage],
  ['/memory', MemoryPage],
  ['/memory/:id', MemoryPage],
  ['/canvas', CanvasPage],
  ['/canvas/:id', CanvasPage],
  ['/tools', ToolsPage],
  ['/tools/:tool', ToolsPage],
  ['/policy', PolicyPage],
  ['/tokens', TokensPage],
  ['/audit', AuditPage],
  ['/health', HealthPage],
]

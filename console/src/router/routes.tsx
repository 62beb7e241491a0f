import { Activity, HeartPulse, History, Inbox, type LucideIcon, ScrollText, ShieldCheck, Wrench } from 'lucide-react'
import { type ComponentType, lazy } from 'react'

/** A section of the console, in the order of the navigation; `key` follows `g`. */
export interface Section {
  readonly path: string
  readonly title: string
  readonly key: string
  readonly icon: LucideIcon
}

/** The sections of the navigation, in order. */
export const SECTIONS: readonly Section[] = [
  { path: '/live', title: 'Live', key: 'l', icon: Activity },
  { path: '/approvals', title: 'Approvals', key: 'a', icon: Inbox },
  { path: '/runs', title: 'Runs', key: 'r', icon: History },
  { path: '/tools', title: 'Tools', key: 't', icon: Wrench },
  { path: '/policy', title: 'Policy', key: 'p', icon: ShieldCheck },
  { path: '/audit', title: 'Audit', key: 'u', icon: ScrollText },
  { path: '/health', title: 'Health', key: 'h', icon: HeartPulse },
]

/** What a page gets: the names in its path. */
export interface PageProps {
  readonly params: Readonly<Record<string, string>>
}

const LivePage = lazy(() => import('../pages/live/live-page.tsx'))
const ApprovalsPage = lazy(() => import('../pages/approvals/approvals-page.tsx'))
const RunsPage = lazy(() => import('../pages/runs/runs-page.tsx'))
const RunPage = lazy(() => import('../pages/runs/run-page.tsx'))
const ToolsPage = lazy(() => import('../pages/tools/tools-page.tsx'))
const PolicyPage = lazy(() => import('../pages/policy/policy-page.tsx'))
const AuditPage = lazy(() => import('../pages/audit/audit-page.tsx'))
const HealthPage = lazy(() => import('../pages/health/health-page.tsx'))

/** Which page a path shows, first match; each is loaded when it is first opened. */
export const ROUTES: readonly (readonly [pattern: string, page: ComponentType<PageProps>])[] = [
  ['', LivePage],
  ['/live', LivePage],
  ['/live/:call', LivePage],
  ['/approvals', ApprovalsPage],
  ['/approvals/:id', ApprovalsPage],
  ['/runs', RunsPage],
  ['/runs/:run', RunPage],
  ['/runs/:run/:call', RunPage],
  ['/tools', ToolsPage],
  ['/tools/:tool', ToolsPage],
  ['/policy', PolicyPage],
  ['/audit', AuditPage],
  ['/health', HealthPage],
]

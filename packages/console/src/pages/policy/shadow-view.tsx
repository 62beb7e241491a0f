import { ArrowRight, FlaskConical } from 'lucide-react'
import { Link } from 'wouter'
import { api } from '../../api/session.ts'
import type { ShadowReportEntry } from '../../api/types.ts'
import { useResource } from '../../api/use-resource.ts'
import { Badge, EffectBadge } from '../../components/badge.tsx'
import { Note } from '../../components/note.tsx'
import { Section } from '../../components/page.tsx'
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx'
import { Loaded } from '../../components/resource.tsx'
import { EmptyState } from '../../components/states.tsx'
import { VisibleText } from '../../components/text.tsx'
import { Time } from '../../components/time.tsx'
import styles from './policy.module.css'
import { isLooser } from './text-edits.ts'

type Difference = ShadowReportEntry['differences'][number]
type Example = Difference['examples'][number]

/** Where the shadow policy decides otherwise than the policy in force. */
export function ShadowView() {
  const query = useResource(['policy', 'shadow'], async () => (await api.policy.shadow()) ?? null, {
    refreshOn: ['policy-changed', 'call'],
  })
  return <Loaded query={query}>{(report) => (report ? <ShadowReport report={report} /> : <NoShadow />)}</Loaded>
}

function NoShadow() {
  return (
    <EmptyState icon={FlaskConical} title="No shadow policy">
      Write new rules to a file of their own, name it in your config as{' '}
      <code>{'policy: { rules: …, shadow: ./next.yaml }'}</code>, and restart the service. Every call is then decided
      twice, and this page shows where the new rules would decide otherwise. Their decisions have no effect.
    </EmptyState>
  )
}

function ShadowReport({ report: { since, compared, failed, differences } }: { report: ShadowReportEntry }) {
  const calls = differences.reduce((sum, { count }) => sum + count, 0)
  const looser = differences.filter(isLooserDifference).reduce((sum, { count }) => sum + count, 0)
  return (
    <div className={styles.view}>
      <p aria-live="polite">
        <strong>{compared.toLocaleString('en')} decisions compared</strong> since <Time at={Date.parse(since)} />; the
        decisions of the shadow policy have no effect.{' '}
        {calls === 0
          ? 'No differences.'
          : `It would decide ${calls.toLocaleString('en')} ${calls === 1 ? 'call' : 'calls'} otherwise.`}
      </p>
      {failed > 0 && (
        <Note tone="bad" title={`The shadow policy failed to decide ${failed.toLocaleString('en')} times`}>
          <p>The calls were not affected. The service has printed the first failure.</p>
        </Note>
      )}
      {looser > 0 && (
        <Note tone="warn" title={`${looser.toLocaleString('en')} of them would be decided less strictly than now`}>
          <p>Make sure that this is what you want; they are marked “looser”.</p>
        </Note>
      )}
      {differences.length > 0 && (
        <Section title="Differences">
          <PlainTable
            label="Differences between the policy in force and the shadow policy"
            rows={differences}
            columns={COLUMNS}
            rowKey={({ tool, effect, shadowEffect }) => `${tool} ${effect} ${shadowEffect}`}
          />
        </Section>
      )}
    </div>
  )
}

function isLooserDifference({ effect, shadowEffect }: Difference): boolean {
  return isLooser({ before: effect, after: shadowEffect })
}

const COLUMNS: readonly PlainColumn<Difference>[] = [
  {
    id: 'change',
    title: 'In force → shadow',
    cell: (difference) => (
      <span className={styles.effects}>
        <EffectBadge effect={difference.effect} />
        <ArrowRight size={12} aria-label="becomes" />
        <EffectBadge effect={difference.shadowEffect} />
        {isLooserDifference(difference) && <Badge tone="warn">looser</Badge>}
      </span>
    ),
  },
  { id: 'tool', title: 'Tool', isName: true, cell: ({ tool }) => <VisibleText text={tool} /> },
  { id: 'count', title: 'Calls', align: 'end', cell: ({ count }) => count.toLocaleString('en') },
  {
    id: 'examples',
    title: 'Latest calls',
    isWide: true,
    cell: ({ examples }) => (
      <ul className={styles.list}>
        {examples.map((example) => (
          <li key={`${example.run} ${example.callId}`}>
            <LatestCall example={example} />
          </li>
        ))}
      </ul>
    ),
  },
]

function LatestCall({ example: { run, callId, time, rule, shadowRule, target } }: { example: Example }) {
  return (
    <>
      <Link to={`/runs/${encodeURIComponent(run)}/${encodeURIComponent(callId)}`}>
        <Time at={Date.parse(time)} />
      </Link>{' '}
      {target !== undefined && (
        <>
          <VisibleText text={target} />{' '}
        </>
      )}
      <code className={styles.source}>
        <VisibleText text={rule} />
      </code>{' '}
      <ArrowRight size={12} aria-label="becomes" />{' '}
      <code className={styles.rule}>
        <VisibleText text={shadowRule} />
      </code>
    </>
  )
}

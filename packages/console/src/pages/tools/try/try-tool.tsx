import { Eye, Play } from 'lucide-react'
import { useMemo, useRef, useState } from 'react'
import { api, useMe } from '../../../api/session.ts'
import type { PolicyExplanation, ToolEntry, ToolResult } from '../../../api/types.ts'
import { Badge, EffectBadge } from '../../../components/badge.tsx'
import { Button } from '../../../components/button.tsx'
import { Facts } from '../../../components/details.tsx'
import { Field } from '../../../components/field.tsx'
import { Note } from '../../../components/note.tsx'
import { Section } from '../../../components/page.tsx'
import { checkValue, type Problems } from '../../../components/schema-form/json-schema.ts'
import { SchemaForm } from '../../../components/schema-form/schema-form.tsx'
import { ErrorState } from '../../../components/states.tsx'
import { VisibleText } from '../../../components/text.tsx'
import { useCalm } from '../../../lib/calm.ts'
import { useScrollIntoView } from '../../../lib/hooks.ts'
import { useValue } from '../../../lib/watched-value.ts'
import { exampleInput } from '../samples.ts'
import { IDLE } from './call-state.ts'
import { FollowedCall } from './followed-call.tsx'
import { cancelCall, forgetCall, startCall, toolCalls, tryRun, useDraft } from './tool-calls.ts'
import styles from './try.module.css'

/** A form to try a tool: first a preview of what would happen, then the call. */
export function TryTool({ tool }: { tool: ToolEntry }) {
  const me = useMe()
  const run = tryRun(me.principal.name)
  const schema = useMemo(() => ({ type: 'object', properties: {}, ...tool.parameters }), [tool])
  const [input, setInput] = useDraft(tool.tool, () => exampleInput(tool.parameters))
  const [purpose, setPurpose] = useState('')
  const [problems, setProblems] = useState<Problems>()
  const { forecast, error, isBusy, preview } = useForecast(tool.tool, run)
  const call = useValue(toolCalls).get(tool.tool) ?? IDLE
  // A second click is not a second call: the time starts when the last call ended.
  const calm = useCalm(`${call.phase} ${call.callId} ${forecast?.about}`)
  if (!me.may('call')) {
    return (
      <Note tone="warn" title="You cannot call tools">
        Your sign-in has no scope call. Sign in with a token that has it:{' '}
        <code>tool-hub tokens add NAME --scopes call</code>
      </Note>
    )
  }
  if (!tool.visible) {
    return (
      <Note tone="warn" title="It cannot be tried while it is hidden from you">
        A call would be refused. The reason is shown above.
      </Note>
    )
  }
  const change = (next: unknown) => {
    setInput(next)
    setProblems(undefined)
  }
  const look = () => {
    const found = checkValue(schema, input)
    setProblems(found)
    if (found.size === 0) void preview(input)
  }
  const isForeseen = forecast?.about === JSON.stringify(input)
  const mayPass = isForeseen && (forecast.dryRun.ok || forecast.dryRun.status === 'approval_required')
  const isRunning = call.phase === 'running'
  return (
    <div className={styles.try}>
      <SchemaForm schema={schema} value={input} onChange={change} problems={problems} />
      {problems !== undefined && problems.size > 0 && (
        <Note
          isLive
          tone="bad"
          title={problems.size === 1 ? 'One field is invalid' : `${problems.size} fields are invalid`}
        />
      )}
      {mayPass && forecast.explanation.effect === 'ask' && <PurposeField value={purpose} onChange={setPurpose} />}
      <div className={styles.actions}>
        <Button
          variant={mayPass ? 'secondary' : 'primary'}
          icon={Eye}
          isBusy={isBusy}
          disabled={isRunning}
          onClick={look}
        >
          What would happen
        </Button>
        <Button
          variant={mayPass ? 'primary' : 'secondary'}
          icon={Play}
          disabled={!mayPass || isRunning}
          calm={calm}
          onClick={() => void startCall(tool.tool, input, { run, purpose: purpose || undefined })}
        >
          Call
        </Button>
        {!isForeseen && <span className={styles.hint}>Preview the call first; then you can make it.</span>}
      </div>
      {error && <ErrorState error={error} onRetry={look} />}
      {forecast && <ForecastView forecast={forecast} isOld={!isForeseen} />}
      <FollowedCall
        tool={tool.tool}
        run={run}
        state={call}
        onCancel={() => cancelCall(tool.tool)}
        onForget={() => forgetCall(tool.tool)}
      />
    </div>
  )
}

/** The result of a dry run, and the decision of the policy. */
function ForecastView({ forecast, isOld }: { forecast: Forecast; isOld: boolean }) {
  const { dryRun, explanation } = forecast
  const place = useScrollIntoView<HTMLDivElement>(forecast)
  const { effect, rule, reason, source, targets, fix } = explanation
  const isInvalid = dryRun.status === 'error'
  return (
    <div ref={place}>
      <Section
        title="What would happen"
        actions={
          isOld ? <Badge tone="warn">for an earlier input</Badge> : <Badge tone="quiet">nothing was executed</Badge>
        }
      >
        <p role="status" className={styles.summary}>
          <VisibleText text={isInvalid || dryRun.status === 'denied' ? dryRun.summary : sentenceFor(effect)} />
        </p>
        <Facts
          facts={[
            ['Policy', isInvalid ? undefined : <EffectBadge key="effect" effect={effect} />],
            ['Rule', <Mono key="rule" text={rule} />],
            ['From', rule.includes(source) ? undefined : <VisibleText key="source" text={source} />],
            ['Reason', <VisibleText key="reason" text={reason} />],
            [
              'Targets',
              targets.length > 0 && (
                <ul key="targets" className={styles.targets}>
                  {targets.map(({ capability, value }) => (
                    <li key={`${capability} ${value}`}>
                      <Mono text={`${capability} ${value}`} />
                    </li>
                  ))}
                </ul>
              ),
            ],
            ['Fix', !dryRun.ok && <VisibleText key="fix" text={fix ?? dryRun.error.fix.hint} />],
          ]}
        />
      </Section>
    </div>
  )
}

function sentenceFor(effect: 'allow' | 'ask' | 'deny'): string {
  if (effect === 'allow') return 'It would run immediately.'
  if (effect === 'ask') return 'It would wait until somebody else approves it: you cannot approve your own call.'
  return 'It would be refused.'
}

function Mono({ text }: { text: string }) {
  return (
    <code>
      <VisibleText text={text} />
    </code>
  )
}

/** The purpose of the call, for the person who approves it. */
function PurposeField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  return (
    <Field label="Purpose" description="Shown to the person who approves the call.">
      {(control) => (
        <input
          {...control}
          type="text"
          maxLength={2_000}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  )
}

/** The preview of a call. */
interface Forecast {
  /** The input as JSON. */
  readonly about: string
  readonly dryRun: ToolResult
  readonly explanation: PolicyExplanation
}

interface ForecastState {
  readonly forecast?: Forecast
  readonly error?: Error
  readonly isBusy: boolean
}

/** Previews a call by a dry run and an explanation of the policy; nothing is executed. */
function useForecast(tool: string, run: string) {
  const [state, setState] = useState<ForecastState>({ isBusy: false })
  const latest = useRef(0)
  const preview = async (input: unknown) => {
    latest.current += 1
    const own = latest.current
    setState((known) => ({ ...known, error: undefined, isBusy: true }))
    try {
      const dryRun = await api.call(tool, input, { dryRun: true, run })
      const explanation = await api.policy.explain({ tool, input, run })
      if (own === latest.current)
        setState({ isBusy: false, forecast: { about: JSON.stringify(input), dryRun, explanation } })
    } catch (error) {
      if (own === latest.current) setState({ isBusy: false, error: error as Error })
    }
  }
  return { ...state, preview }
}
